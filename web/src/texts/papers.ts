/**
 * What to look for in the papers' experiments: the path, what the paper says, and what came out when all
 * its points were redone (papers/ of the site). The page shows one point of each.
 */

import type { Sentences } from './watch.ts';

export const PAPERS: Record<string, Sentences> = {
  'paper/rr-3': [
    'The bottleneck makes 1 to 30 % of the packets late by about 25 ms and drops none.',
    'The paper says that SACK falls rapidly and that DSACK-TA is best and falls slowest.',
    'Both hold when all points are redone: from 1 to 30 % late, SACK falls from 1.03 to 0.39 Mb/s and DSACK-TA from 3.31 to 2.74.',
  ],
  'paper/rr-4': [
    'The same path as in figure 3, seen through the fast retransmits that were false.',
    'The paper says that DSACK-FA has less than 10 % of them for each reordering event, and DSACK-TA still less.',
    'Both hold: the timeouts that would lower DSACK-TA’s FA ratio never come, and it stays at its limit of 99 %.',
  ],
  'paper/rr-5': [
    'One packet in twenty is late, and up to 2 % are lost besides.',
    'The paper says that all senders lose throughput to loss and that the lead of the DSACK senders shrinks.',
    'It holds: the lead of DSACK-TA over SACK falls from 2.46 Mb/s without losses to 0.06 at 2 %.',
  ],
  'paper/rr-6': [
    'Few packets are late, but by up to four times the propagation delay, and 0.6 % are lost.',
    'The paper says that DSACK-TA is best and that DSACK-FA comes closer as the delay grows.',
    'It holds: DSACK-FA has 77 % of DSACK-TA’s throughput at 40 ms and 96 % at 200 ms.',
  ],
  'paper/rr-7abc': [
    'The path of figure 6 at 100 ms, with the FA ratio fixed at values from 5 to 95 %.',
    'The paper says that DSACK-TA finds a ratio of about 60 % by itself and has about the best throughput of all.',
    'It holds: the ratio found is 59 %, and the throughput is within 1 % of the best fixed ratio’s.',
  ],
  'paper/rr-8': [
    'Every second packet takes a path that is longer, by up to 300 ms.',
    'The paper says that DSACK-TA stays far above SACK, seven times at 200 ms.',
    'It is above at every difference from 25 ms on, and nearly eleven times at 200 ms.',
  ],
  'paper/rr-9': [
    'One packet in a hundred is late, by a mean that grows up to four times the propagation delay.',
    'The paper says that all schemes are alike for short delays and that DSACK-TA leads for long ones.',
    'It holds: at the longest delay DSACK-TA has 2.14 Mb/s and Blanton and Allman’s senders 1.79 at most.',
  ],
  'paper/rr-10': [
    'The path of figure 9, seen through the share of fast retransmits.',
    'The paper says that DSACK-TA’s share stays around zero and that the others’ grow with the delay.',
    'It holds: DSACK-TA has fewer than one in ten thousand packets, and the others come to 0.6 %.',
  ],
  'paper/rr-ack': [
    'Data packets are late as in figure 3, and up to a tenth of the acknowledgements are late as well.',
    'The paper says that this hardly matters to any DSACK sender.',
    'It holds: DSACK-TA varies by less than 1 % over the whole range.',
  ],
  'paper/rr-all': [
    'A grid of paths with all combinations of delay, loss, share late and lateness.',
    'The paper says that DSACK-TA is best over all.',
    'On the mean of the grid it is, at 29.9 % of the capacity; the nearest has 29.2 %.',
  ],
  'paper/rr-t3': [
    'Two per cent of the packets are late, and now and then everything is lost for a third of a second.',
    'The paper says that Blanton and Allman’s INC suffers more from these bursts than DSACK-TA.',
    'It holds: INC keeps 80 % of its packets with the bursts, and DSACK-TA 87 %.',
  ],
  'paper/ad-3': [
    'The delay of the bottleneck is drawn anew every 50 ms, so that packets overtake each other all the time.',
    'The paper says that AVG-DEV is far above DEL, AVG and EWMA and very close to FA.',
    'It has 54 % more than DEL and 57 % more than AVG and is within 2 % of FA on the mean; INC, however, is only 7 % behind.',
  ],
  'paper/ad-4': [
    'The path of figure 3, with the delay drawn every 100 ms, so that reordering is rarer.',
    'The paper says that AVG-DEV’s lead is smaller then.',
    'It holds: the lead over AVG falls from 57 to 14 %.',
  ],
  'paper/ad-5': [
    'The path of figure 3, with 0.2 % lost besides.',
    'The paper says that AVG-DEV keeps a lead of 50 to 155 % over the others.',
    'It does not hold: random loss alone bounds every sender, and AVG-DEV is 1 % above DEL and 20 % above EWMA.',
  ],
  'paper/ad-6': [
    'The path of figure 3, seen through unnecessary fast retransmissions.',
    'The paper says that AVG-DEV has 15 to 40 % of DEL’s and 6 to 15 % of EWMA’s.',
    'Both hold: 25 and 9 %.',
  ],
  'paper/ad-7': [
    'The path of figure 4, seen through unnecessary fast retransmissions.',
    'The paper says that AVG-DEV still has the fewest of all but FA.',
    'It holds at every delay; AVG-DEV even has fewer than FA.',
  ],
  'paper/ad-8': [
    'The path of figure 5, with losses, seen through unnecessary fast retransmissions.',
    'The paper says that losses hardly change their rate.',
    'It does not hold: AVG-DEV’s rate is four times as high as without losses.',
  ],
  'paper/ad-10': [
    'A share of the packets takes a way that is ten times slower and 200 ms longer.',
    'The paper says that AVG-DEV has 35 to 45 % more than AVG on the mean, and that all are alike when one way takes everything.',
    'Both hold: it has 34 % more, within the tolerance, and at the two ends all deliver the same.',
  ],
  'paper/ad-11': [
    'The two ways of figure 10, with 0.3 % lost on the first link.',
    'The paper says that AVG-DEV is very close to FA.',
    'It holds on the mean of all shares: AVG-DEV has 96 % of FA’s throughput.',
  ],
  'paper/ad-t2': [
    'The two ways of figures 10 and 11, seen through the rate of unnecessary retransmissions.',
    'The paper gives 0.35 % for AVG-DEV and 3.1 % for DSACK without losses.',
    'The order is confirmed, 0.31 % and 3.7 %, but not the numbers, which depend on settings that the paper leaves out.',
  ],
  'paper/pr-1': [
    'Fifty connections send a packet a second through queues that other traffic fills, and nothing is lost.',
    'The paper says that TCP-PR’s timer then expires in vain less than once in ten million packets, for any β above 1.',
    'It holds from β = 2 on; at 1.1 the timer expires in vain for 2 to 12 % of the packets where α is 0.99 or 0.9.',
  ],
  'paper/pr-3': [
    'One packet in a hundred takes a much longer way, and TCP-PR’s parameters α and β vary.',
    'The paper says that the throughput holds as long as α or β is large.',
    'With both small it suffers, as the paper says; with SACK a β of 10 keeps it within 4 % of the best.',
  ],
  'paper/pr-6': [
    'TCP-PR and SACK share a link, half of the flows each, in order.',
    'The paper says that both get the same, about 1 on its scale.',
    'With cumulative acknowledgements TCP-PR gets less, 0.73, and with SACK and table 1 of the paper more, 1.2.',
  ],
  'paper/pr-7': [
    'The shared link of figure 6, with other rates and so other losses.',
    'The paper says that the throughputs of both kinds vary alike.',
    'They differ by about a tenth where TCP-PR uses SACK.',
  ],
  'paper/pr-8': [
    'TCP-PR and SACK share a link, 32 flows each, and β varies.',
    'The paper says that SACK does better if β is 1.',
    'It holds where TCP-PR uses SACK: SACK has 1.07 to 1.5 times an equal share.',
  ],
  'paper/pr-10': [
    'Packets and acknowledgements are spread over ways of 20, 30 and 40 ms, from all to the shortest alone.',
    'The paper says that with full spreading all but TCP-PR collapse.',
    'TCP-PR has 27 Mb/s there, nearly three times what it has on one way, and more than all others.',
  ],
  'paper/dcr-2': [
    'One packet in 1/p is lost, and nothing is late.',
    'The paper computes that TCP-DCR then has the throughput of Reno, proportional to 1/√p.',
    'It is within 1 % of Reno on the mean of all p, but both are below the formula where many are lost.',
  ],
  'paper/dcr-4': [
    'Up to 30 % of the packets are late by about 25 ms, on 8 Mb/s.',
    'The paper says that SACK falls rapidly and that DCR stays close to what SACK has in order.',
    'Both hold: SACK keeps 8 % at 5 % late, and DCR is within 5 % at every share.',
  ],
  'paper/dcr-5': [
    'Packets take two paths in turn, and the second is longer by up to 200 ms.',
    'The paper says that DCR degrades only a little once the difference exceeds the round trip of the shorter one.',
    'DCR is far above SACK everywhere, but it has lost a third by 100 ms.',
  ],
  'paper/dcr-6': [
    'Six flows of DCR share a link with six of SACK, a tenth of the packets is late, and the queue varies.',
    'The paper says that DCR takes more when congestion is low and that shares become equal when it is high.',
    'It holds: DCR has 3.6 times SACK’s rate with a large queue and 1.5 times with a small one.',
  ],
  'paper/dcr-7': [
    'Six flows of DCR share a link with six of SACK, 1.5 % are lost to congestion, and up to 30 % are late.',
    'The paper says that DCR has two to three times SACK’s rate when packets are late.',
    'It holds: 2.2 times on the mean.',
  ],
  'paper/dcr-8': [
    'Half of 4 to 12 flows are DCR and half are SACK; one packet in a hundred is late, and one is lost.',
    'The paper says that the difference is stable whatever the number of flows.',
    'The ratio is, at 1.7; the difference in Mb/s shrinks as each flow’s share does.',
  ],
  'paper/dcr-9': [
    'A wireless link of 1 Mb/s damages packets and sends them again, after which they are late.',
    'The paper says that DCR is significantly better than SACK.',
    'It holds: at 10 % damaged SACK has half of the rate left.',
  ],
  'paper/dcr-10': [
    'The wireless link of figure 9, with delays of up to 500 ms.',
    'The paper says that SACK degrades with the delay and that DCR is more robust.',
    'It holds: from 5 to 500 ms SACK keeps a tenth and DCR two fifths.',
  ],
  'paper/dcr-11': [
    'Twelve flows of DCR and twelve of SACK share a wireless link with congestion.',
    'The paper says that DCR is far ahead at low congestion and that the difference narrows.',
    'It holds from 1 % of damage on, where DCR has 1.8 to 3.1 times SACK’s rate at low congestion.',
  ],
  'paper/dcr-12': [
    'DCR and Westwood over the wireless link, each alone.',
    'The paper says that they are alike with few errors and that DCR is ahead with many and a long delay.',
    'With 1 % of errors DCR is ahead at 200 ms, and Westwood is at 500 ms.',
  ],
  'paper/dcr-13': [
    'Six flows of DCR and six of SACK share a link in order; the queue decides how much is lost.',
    'The paper says that both have very nearly the same.',
    'At two of five sizes of the queue DCR has more than SACK, by a fifth at most.',
  ],
  'paper/dcr-14': [
    'Twelve flows share a link with a queue of 60 packets, and 2.5 % are lost to congestion.',
    'The paper says that a resent packet takes 207 ms with DCR and 178 with SACK.',
    'Both hold, 211 and 177 ms: this is what waiting costs.',
  ],
  'paper/dcr-15': [
    'The link of figure 14, seen through the senders’ estimates of the round-trip time.',
    'The paper says that DCR does not disturb them.',
    'It holds: they are within 3 % of SACK’s.',
  ],
  'paper/dcr-17': [
    'Six flows have a link for themselves, and at 50 s six flows of SACK join.',
    'The paper says that DCR gives way as fast as SACK does.',
    'On the mean it takes 7.5 s and SACK 5.0, with an uncertainty larger than the difference.',
  ],
  'paper/dcr-18': [
    'Eight long flows share a link with 500 flows of web traffic.',
    'The paper says that web traffic fares alike beside DCR and beside SACK.',
    'It holds: 4.9 Mb/s beside both.',
  ],
  'paper/dcr-t16': [
    'The link of figure 14 with DCR alone, SACK alone, and half of each.',
    'The paper says that DCR does not change throughput, drops and queue drastically.',
    'It holds, within what the paper’s own numbers differ by.',
  ],
  'paper/dcr-t20': [
    'A Linux sender transfers 33 MB while the delay varies by up to 3 ms.',
    'The paper says that its throughput hardly falls, although up to 40 % of the packets are out of order.',
    'It holds in the simulator: DCR’s throughput is constant within 1 %.',
  ],
  'paper/wb-1': [
    'Five Reno flows share a link that holds ten packets, and lose a sixth of what they send.',
    'The paper says that their timers make them transmit and retransmit at the same time.',
    'It holds: two flows stall together 1.5 times as often as if they were independent.',
  ],
  'paper/wb-2': [
    'The five flows of figure 1, seen through their round-trip times.',
    'The paper says that all of them see the same.',
    'It holds, within 3 %; but the queue is half full on the mean, and not always full.',
  ],
  'paper/wb-5': [
    'Up to 100 flows share a link that holds ten packets, with a queue of 50.',
    'The paper says that with many flows Reno’s timers shut some of them out and that WB-RTO is fairer.',
    'It holds from 70 flows on: with 100, 38 get nothing under Reno and 17 under WB-RTO.',
  ],
  'paper/wb-6': [
    'A hundred flows of figure 5, seen through the queue.',
    'The paper says that under Reno the queue is always full, and under WB-RTO it is not.',
    'It is full for 99 % of the time under Reno, and for 98 % under WB-RTO.',
  ],
  'paper/wb-7': [
    'Flows over a satellite link, without blackouts and with three of them.',
    'The paper says that WB-RTO uses the link sooner after a blackout.',
    'It holds: with 12 flows Reno has 24 % less than WB-RTO.',
  ],
  'paper/wb-8': [
    'The satellite link, in the seconds after a blackout.',
    'The paper says that Reno times out twice before it resumes, and WB-RTO once.',
    'Reno does so 2.05 times on the mean, and WB-RTO 1.4 times.',
  ],
  'paper/wb-9': [
    'Up to 100 flows share a link of 10 Mb/s with RED.',
    'The paper says that goodput is the same and that Reno retransmits 50 % more.',
    'Both hold: Reno retransmits 1.6 times as much.',
  ],
  'paper/wb-10': [
    'A hundred flows of figure 9, seen through the queue.',
    'The paper says that the queue swings more under Reno.',
    'It holds: by 12 packets against 8.',
  ],
  'paper/wb-11': [
    'A hundred flows of figure 9, seen through RED’s average of the queue.',
    'The paper says that it is lower under WB-RTO.',
    'It holds: 11.4 packets against 13.3.',
  ],
  'paper/wb-12': [
    'Web pages and bulk transfers share a link; seven of ten flows are web.',
    'The paper says that WB-RTO retransmits less and delivers more.',
    'It retransmits less at every number of flows; more it does not deliver at three of seven.',
  ],
  'paper/wb-13': [
    'Ten flows of figure 12, seen through their timeouts.',
    'The paper says that short flows have fewer under WB-RTO.',
    'It holds: 72 against 114.',
  ],
  'paper/wb-15': [
    'Groups of flows enter and leave beside datagrams of a constant rate.',
    'The paper says that WB-RTO retransmits less as contention grows and is fairer in all cases.',
    'The first holds; it is not fairer at any number of flows.',
  ],
  'paper/wb-t1': [
    'The five flows of figure 1, in numbers.',
    'The paper says that together they deliver 10 kB/s, of which each has about a fifth.',
    'Both hold: 9.7 kB/s, and 1.9 for each.',
  ],
  'paper/wb-t3': [
    'A hundred and fifty flows over a satellite link with RED.',
    'The paper says that WB-RTO retransmits much less than Reno, with a little more goodput.',
    'All twelve numbers of its table hold within 10 %.',
  ],
  'paper/wb-t5': [
    'A hundred and fifty flows over a short link with a queue of 19 packets.',
    'The paper says that WB-RTO retransmits far less than Reno.',
    'It holds: 54 000 to 91 000 packets against 192 000.',
  ],
  'paper/wb-t6': [
    'The satellite link of table 3 with 30 seeds.',
    'The paper says that the seed changes the results by less than 1 %.',
    'It holds for goodput, fairness and retransmissions.',
  ],
  'paper/wb-t7': [
    'The short link of table 5 with 30 seeds.',
    'The paper says that the seed changes goodput by at most 0.35 % and retransmissions by at most 5.2 %.',
    'Both hold.',
  ],
};
