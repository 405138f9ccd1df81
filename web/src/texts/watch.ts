/**
 * Three sentences on each path: what it is, and what to look for. A test runs each path and holds the
 * sentences that compare senders to what it delivers.
 */

import { PAPERS } from './papers.ts';

export type Sentences = readonly [string, string, string];

const GALLERY: Record<string, Sentences> = {
  'in-order': [
    'Nothing is late and nothing is lost at random; only the queue overflows now and then.',
    'Every sender here delivers about the same, so none of them pays for its patience with late packets.',
    'Watch the queue fill until it overflows, and the cut of the window that follows.',
  ],
  'few-late': [
    'One packet in twenty takes a detour of about 200 ms, twice the round trip, and nothing is lost.',
    'sack keeps a twentieth of the rate and linux a tenth, because they take each detour for a loss.',
    'unruffled and tcp-pr-sack wait in time and not in packets, and keep more than nine tenths.',
  ],
  'half-late': [
    'Every second packet takes a path that is 200 ms longer, as over two lines in turns.',
    'rack and sack deliver about 2 % of the rate: a lateness of two round trips is a loss to both.',
    'Look at the receiver of unruffled: some eighty packets wait there for the slow path, and that does no harm.',
  ],
  'rr-3': [
    'The path of RR-TCP’s figure 3: one packet in ten is late by about 25 ms, a quarter of a round trip.',
    'sack keeps a sixth of what rr-ta delivers; rr-fa, whose patience is fixed, is in between.',
    'rack, twenty years younger, is level with unruffled here, since nothing is later than a round trip.',
  ],
  'dcr-4': [
    'The path of TCP-DCR’s figure 4: 8 Mb/s, and one packet in ten is late by about 25 ms.',
    'sack delivers a sixteenth of what the path carries.',
    'At twice the rate of rr-3, rr-fa falls behind: more packets overtake a late one, and a threshold in packets must grow with the rate.',
  ],
  'dcr-t20': [
    'A transfer of 33 MB by a Linux sender, after table 20 of TCP-DCR, with no variation of the delay as the file stands.',
    'All senders need 27 s, because nothing overtakes anything.',
    'Change “deviation” in the scenario to 1, 2 or 3 ms, as the table does, and sack falls while dcr-ack does not.',
  ],
  'ad-10': [
    'Packets alternate between a fast way of 10 Mb/s and a slow one of 1 Mb/s that is 200 ms longer, after AVG-DEV’s figure 10.',
    'rack, dcr-timer and sack deliver less than a tenth of it; they resend what the slow way still carries.',
    'rr-ta, linux-reordering, tcp-pr-sack and unruffled learn how long it takes, and have nearly all.',
  ],
  'pr-10': [
    'Each packet takes one of three ways of 20, 30 and 40 ms at random, and so do acknowledgements, after TCP-PR’s figure 10.',
    'sack delivers less than 1 Mb/s of 29.',
    'rr-ta is limited by its longest threshold, 64 packets, and delivers two thirds.',
  ],
  burst: [
    'For 10 s all is in order, for 20 s one packet in ten is late, then all is in order again, and for 20 s one in a hundred is lost.',
    'Watch the threshold of rr-ta: it rises when packets are late and is still high when they are lost.',
    'unruffled and rack count time; they forget the burst sooner and deliver most.',
  ],
  spray: [
    'A data centre sends each packet over one of four spines at random, at 100 Gb/s.',
    'Packets overtake each other by a few microseconds, and sack delivers a fifth of the rate because of it.',
    'tcp-pr-sack hardly begins: it has a timeout, and 500 ms are too short to get over it.',
  ],
  bonded: [
    'A home has two bonded lines of 40 and 20 Mb/s, and packets take them in turn, two to one.',
    'sack delivers 1 Mb/s of 58: with it, two lines are far slower than either of them alone.',
    'unruffled, rack and linux-reordering fill both lines.',
  ],
  satellite: [
    'A low satellite hands over every 15 s: the delay jumps, and what is on its way for 20 ms is lost.',
    'When the new way is shorter, packets overtake those still on the longer one, but only at the handover.',
    'So all senders but tcp-pr-sack are within 2 % of each other here.',
  ],
  radio: [
    'The link layer of 5G sends one packet in ten again, 8 ms later, and hands the others on at once.',
    'sack delivers a fiftieth of the rate although the radio loses nothing.',
    'rr-ta keeps a third: at 100 Mb/s more packets overtake a late one than its threshold of 64.',
  ],
  'wi-fi': [
    'Wi-Fi sends 3 % of the frames again within 2 to 6 ms, and one in ten thousand is lost when its retries run out.',
    'sack takes each of the 3 % for a loss and delivers a sixteenth.',
    'Here real losses matter as well: nobody reaches the whole rate, and unruffled is the nearest of these.',
  ],
  switch: [
    'A switch with parallel paths inside delays three packets in ten by up to 0.1 ms, on a line of 1 Gb/s.',
    'A tenth of a millisecond is enough at this rate: up to eight packets pass, and sack delivers less than 1 % of it.',
    'unruffled, rack and linux-reordering have nearly all.',
  ],
  vpn: [
    'A tunnel spreads its packets over several cores and does not restore the order: a quarter is late by 0.3 ms on the mean.',
    'rr-ta, dcr-timer and sack collapse at 1 Gb/s.',
    'unruffled delivers a fifth more than rack and linux-reordering.',
  ],
  route: [
    'The route becomes 40 ms longer twice, and shorter again; each time it becomes shorter, new packets pass the old.',
    'That happens only twice in 60 s, so sack loses next to nothing.',
    'Reordering that is rare does no harm: what counts is how often, not how much.',
  ],
  gateway: [
    'Two bonded lines, one 30 ms longer, end at a gateway that restores the order, as unruffled resequence does.',
    'Every sender fills the lines, even sack, which knows nothing of reordering.',
    'Set “resequence = false” in the scenario, and sack falls to a small part of it.',
  ],
  'mobile-bond': [
    'Two mobile lines of 26 Mb/s in turns with jitter, after a report that both together were slower than one.',
    'linux delivers less than one line alone carries, as reported.',
    'unruffled and tcp-pr-sack have nearly all of both lines.',
  ],
  ecmp: [
    'Routers spread a tunnel’s packets over two paths, and OpenVPN drops what is 64 packets behind the newest.',
    'Here late packets are really lost, by the tunnel’s own replay window, and no sender has more than a third of the rate.',
    'Set “replay_window = 4096” in the scenario, and those that tell late from lost fill the path.',
  ],
  'two-workers': [
    'Two threads decrypt a WireGuard tunnel of 1 Gb/s, and nothing puts its packets in order again.',
    'sack delivers half a per cent of the rate and rr-ta a fifth.',
    'linux, rack and linux-reordering are ahead of unruffled here: the lateness is far less than a round trip, and RACK is made for that.',
  ],
  handovers: [
    'A low satellite again, whose rate changes at each handover as well, between 40 and 150 Mb/s.',
    'Reordering is rare, and all senders with Reno’s growth deliver the same 80 Mb/s, tcp-pr-sack a little less.',
    'linux delivers more because CUBIC takes the new rate sooner, not because it tells late from lost.',
  ],
  fabric: [
    'A data centre sprays packets over eight spines in turns, at 100 Gb/s, with a round trip of 10 µs.',
    'sack delivers two fifths; all that tell late from lost deliver the whole rate.',
    'tcp-pr-sack takes one timeout at the beginning, and 100 ms are too short to get over it.',
  ],
  'gigabit-bond': [
    'Three cables of 1 Gb/s form a bond, and the cards at its end interrupt the processor only every 60 µs.',
    'sack delivers a tenth of the three cables, less than one of them alone carries.',
    'linux, rack and unruffled fill all three.',
  ],
};

export const WATCH: Record<string, Sentences> = { ...GALLERY, ...PAPERS };
