/** The colour of each sender, as in the reports of the command (`crates/lab/src/report/look.rs`). */

type Pair = readonly [light: number, dark: number];

const SENDERS: Record<string, Pair> = {
  reno: [0x755fc6, 0x867ec6],
  newreno: [0x9b5164, 0xbf8a91],
  sack: [0xcb3fb5, 0xd24eaf],
  'dsack-r': [0x905e4d, 0xcc9a89],
  'ba-inc': [0xb073d8, 0xa06ebe],
  'ba-inc-n': [0x809071, 0x808d6f],
  'ba-avg': [0x6b752b, 0xabb26e],
  'ba-ewma': [0x138399, 0x57b5c6],
  'ba-del': [0x5f82fb, 0x7196f9],
  'td-fr': [0x194caf, 0x5f88d9],
  'rr-fa': [0x70279e, 0xc380f4],
  'rr-fa-rtx': [0x909116, 0x8e9025],
  'rr-ta': [0xb72b6f, 0xd4769c],
  'rr-ta-rtx': [0xc37467, 0xb77162],
  'avg-dev': [0x4e9c0c, 0x55a435],
  'tcp-pr': [0x2a8301, 0x74b553],
  'tcp-pr-extreme': [0xdb6078, 0xd56375],
  'tcp-pr-sack': [0xd26604, 0xdb7524],
  'dcr-ack': [0xa98087, 0xa17d82],
  'dcr-timer': [0x926d0e, 0xa78c41],
  'ncr-careful': [0x8c88ab, 0x84839e],
  'ncr-aggressive': [0x219a7c, 0x69b79c],
  'wb-small': [0xa71f81, 0xbd63a6],
  'wb-medium': [0x579549, 0x7ea269],
  'wb-wide': [0xf55224, 0xdc551d],
  westwood: [0x2995a2, 0x57959a],
  'linux-reordering': [0x8c0183, 0xe179dc],
  rack: [0x58846f, 0x7b9e90],
  quic: [0xce5324, 0xf58c5b],
  quiche: [0x7a5c00, 0xc9a227],
  ngtcp2: [0x00796b, 0x4db6ac],
  'quic-go': [0x3f6fb5, 0x86a8e0],
  gvisor: [0x9c2f5a, 0xe08aaf],
  smoltcp: [0x5d6b1a, 0xa9b84f],
  unruffled: [0x0072b2, 0x4fa3e3],
  'kernel-cubic': [0xef3c57, 0xe74958],
  'kernel-reno': [0x266c2e, 0x8cc285],
  'kernel-bbr': [0x8074b0, 0x9f92c3],
  'kernel-unruffled': [0xa666fe, 0x9963f0],
  linux: [0x6005ff, 0x3456fd],
};

/** The colours of other names. */
const OTHERS: readonly Pair[] = [
  [0xb45983, 0xba7596],
  [0xab7d2f, 0xc6a66b],
  [0x9f3cbe, 0xb15dcb],
  [0x6d55a7, 0xa58bdc],
  [0xa63b1f, 0xde775c],
  [0x86075b, 0xf67fbe],
  [0xe32f7c, 0xdd4682],
  [0x4767ec, 0x647cee],
  [0x4090c2, 0x5891bc],
  [0x078c4f, 0x4fae7c],
];

/** The colours that added parts mix into that of a sender. */
const PARTS: Record<string, Pair> = {
  bbr: [0x5a0030, 0xffc0dc],
  bbr3: [0x203a00, 0xd8f5b0],
  cubic: [0x0a0c10, 0xffffff],
  'linux-cubic': [0x00325a, 0xb8dcff],
  westwood: [0x5a2a00, 0xffd9a8],
  eifel: [0x30006a, 0xd9c2ff],
  'f-rto': [0x003a3a, 0xb0f5ec],
};

/** The share of the part's colour in a mixed colour, in per cent. */
const PART_SHARE = 45;

/** Returns the colour of a sender as a CSS value. */
export function colourOf(sender: string, dark: boolean): string {
  const [base = '', ...parts] = sender.split('+');
  const mode = dark ? 1 : 0;
  let colour = (SENDERS[base] ?? other(base))[mode];
  for (const part of parts.sort()) colour = mixed(colour, (PARTS[part] ?? other(part))[mode]);
  return `#${colour.toString(16).padStart(6, '0')}`;
}

function other(name: string): Pair {
  return OTHERS[hash(name) % OTHERS.length] as Pair;
}

/** Returns a hash of a name: FNV-1a. */
function hash(name: string): number {
  let value = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(name)) {
    value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  }
  return value >>> 4;
}

function mixed(colour: number, added: number): number {
  let result = 0;
  for (const shift of [16, 8, 0]) {
    const [a, b] = [(colour >> shift) & 0xff, (added >> shift) & 0xff];
    result |= Math.trunc((a * (100 - PART_SHARE) + b * PART_SHARE + 50) / 100) << shift;
  }
  return result;
}
