/** The lessons: a paragraph and a path each. A test holds the figures that they name to the simulator. */

import { DEFAULTS, type Settings } from '../state/settings.ts';
import type { Play } from '../state/url.ts';

export interface Lesson {
  id: string;
  title: string;
  text: string;
  /** What to look for on the path. */
  watch: string;
  play: Play;
}

function sliders(settings: Partial<Settings>, senders: string[], shown: [string, string]): Play {
  return { source: { kind: 'sliders' }, settings: { ...DEFAULTS, ...settings }, senders, shown };
}

const WITH_TIMESTAMPS = `name = "timestamps"
title = "5 % of the packets late by N(200, 67) ms, with timestamps"
duration = "60 s"
seeds = 1
variants = ["unruffled", "tcp-pr-sack", "linux-reordering"]

[tcp]
mss = "1460 B"
header = "40 B"
window = 2000
initial_window = 10
min_rto = "200 ms"
delayed_ack = "40 ms"
byte_counting = 2
timestamps = true      # both ends offer them
paws = true            # the receiver discards what is older than what it has seen

[path]
hops = ["bottleneck"]

[link.bottleneck]
rate = "10 Mbit/s"
delay = "50 ms"
queue = 50

[link.bottleneck.delayed]
fraction = "5 %"
distribution = "normal"
mean = "200 ms"
deviation = "67 ms"
packets = "data"

[variant.tcp-pr-sack]
form = "basic"
`;

export const LESSONS: readonly Lesson[] = [
  {
    id: 'duplicate-ack',
    title: 'What a duplicate ACK is',
    text:
      'A receiver acknowledges what it has in order. When packet 5 arrives before packet 4, it cannot move on, ' +
      'so it repeats the acknowledgement of packet 3. That is a duplicate ACK. It says that something after ' +
      'packet 4 has arrived. It does not say whether packet 4 is lost or only late, and that is the whole problem.',
    watch:
      'pause it when a late packet takes the detour. Every packet that overtakes it sends a ring back, a duplicate ' +
      'ACK, and waits at the receiver.',
    play: sliders(
      { rate: 2, late: 5, lateness: 30, distribution: 'constant', duration: 30 },
      ['sack', 'unruffled'],
      ['sack', 'unruffled'],
    ),
  },
  {
    id: 'three',
    title: 'Why three',
    text:
      'TCP takes a packet for lost at the third duplicate ACK (RFC 5681). One or two come when neighbours swap ' +
      'places, and three are still soon enough to repair a real loss after about one round trip. The number is ' +
      'fixed. A packet that two others overtake costs nothing; a packet that five overtake costs half the window, ' +
      'every time.',
    watch:
      'packets leave 1.2 ms apart here, and late ones are 6 ms late. Move the lateness to 2 ms in the playground, ' +
      'and sack is as fast as the rest.',
    play: sliders(
      { late: 5, lateness: 6, distribution: 'constant', duration: 30 },
      ['sack', 'rack', 'unruffled'],
      ['sack', 'rack'],
    ),
  },
  {
    id: 'rack',
    title: 'What RACK changed',
    text:
      'RACK (RFC 8985) asks how long ago a packet was sent, not how many have overtaken it. It waits for a quarter ' +
      'of a round trip, and longer after it has resent in vain, but for no more than one round trip. So it rides out ' +
      'what is a little late at any speed. What is late by more than a round trip is lost to it, whatever it has learnt.',
    watch:
      'packets are 20 ms late on a path of 100 ms, and rack keeps its speed while sack does not. With a lateness of ' +
      '200 ms, rack falls as well.',
    play: sliders(
      { late: 5, lateness: 20, distribution: 'constant', duration: 30 },
      ['sack', 'rack', 'unruffled'],
      ['sack', 'rack'],
    ),
  },
  {
    id: 'timestamps',
    title: 'Why timestamps turn late into lost',
    text:
      'With timestamps, a receiver discards packets that are older than what it has seen (PAWS, RFC 7323). A ' +
      'retransmission is newer than its late original and than all that was sent between them. When it fills the ' +
      'hole, the late packets that still come are older, and the receiver drops them although it needs them. One ' +
      'needless retransmission makes real losses of packets that were only late.',
    watch:
      'few packets are late and none is lost by the network. Open it in the playground, take the line “paws = true” ' +
      'out of the scenario, and every sender here is faster by a quarter or more.',
    play: {
      source: { kind: 'toml', text: WITH_TIMESTAMPS },
      settings: DEFAULTS,
      senders: ['unruffled', 'tcp-pr-sack', 'linux-reordering'],
      shown: ['linux-reordering', 'unruffled'],
    },
  },
  {
    id: 'waiting',
    title: 'What waiting costs when the loss is real',
    text:
      'A sender that waits longer before it resends also repairs a real loss later. Everything behind the hole waits ' +
      'at the receiver meanwhile. For a long transfer that costs little: the speed depends on how often the window ' +
      'is halved, not on when the hole is filled. For somebody who waits for the next octet it is a delay of ' +
      'up to a round trip or more.',
    watch:
      'nothing is late here, and half a per cent is lost. Count how long packets wait at the receiver before the ' +
      'retransmission, a triangle, arrives: dcr-timer waits one round trip longer than sack.',
    play: sliders(
      { late: 0, loss: 0.5, duration: 60, seeds: 3 },
      ['sack', 'dcr-timer', 'tcp-pr-sack', 'rack', 'unruffled'],
      ['sack', 'dcr-timer'],
    ),
  },
  {
    id: 'bbr',
    title: 'Why BBR is not the answer',
    text:
      'BBR sets its speed by what the path delivers and not by losses, so a false alarm does not halve it. Where few ' +
      'packets are late, that is enough. Where many are, the loss detection below it takes most of them for lost and ' +
      'resends them, what BBR sees delivered falls, and the speed with it. BBR needs a detection that tells late from ' +
      'lost just as the others do. It is also no good neighbour: in a short queue, one flow of it takes 74 % of a ' +
      'link from five of CUBIC.',
    watch:
      'every second packet takes a path that is 200 ms longer. rack+bbr is BBR with the detection of Linux, ' +
      'unruffled+bbr is the same BBR with another detection.',
    play: sliders(
      { late: 0, every: 2, extra: 200, duration: 60 },
      ['rack+bbr', 'linux+bbr', 'rack+cubic', 'unruffled+bbr', 'unruffled'],
      ['rack+bbr', 'unruffled+bbr'],
    ),
  },
];
