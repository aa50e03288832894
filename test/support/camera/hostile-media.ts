import { type HostileCase, whilePlaying } from './hostile-case.ts'
import { type Caller, rtpPacket } from './hostile-camera.ts'
import { h264Description } from './scripted-camera.ts'

/** Makes a description with other lines for its track. */
const track = (lines: readonly string[]): string =>
  ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=camera', 't=0 0', ...lines, ''].join('\r\n')

const h264 = (format: string): string =>
  track(['m=video 0 RTP/AVP 96', 'a=rtpmap:96 H264/90000', `a=fmtp:96 ${format}`, 'a=control:track1'])

const controlled = (control: string): string =>
  track(['m=video 0 RTP/AVP 96', 'a=rtpmap:96 H264/90000', `a=control:${control}`])

const described = (what: string, description: string, outcome: HostileCase['outcome']): HostileCase => ({
  what,
  script: {},
  description,
  outcome,
})

/** Makes a packet with some bytes replaced. */
function spoiled(bytes: Readonly<Record<number, number>>, payload?: Buffer): Buffer {
  const packet = rtpPacket(1, payload)
  for (const [at, byte] of Object.entries(bytes)) packet[Number(at)] = byte
  return packet
}

const media = (what: string, act: (caller: Caller) => void): HostileCase => ({
  what,
  script: whilePlaying(act),
  outcome: 'stays',
})
const report = (what: string, bytes: Buffer): HostileCase => media(what, (caller) => caller.rtcp(bytes))

/** Invalid RTP packets, with what is wrong with each. */
export const oddPackets: (readonly [what: string, bytes: Buffer])[] = [
  ['sends a packet of one byte', Buffer.from([0x80])],
  ['sends an empty packet', Buffer.alloc(0)],
  ['sends a packet of version 0', spoiled({ 0: 0x00 })],
  ['sends a packet of version 3', spoiled({ 0: 0xc0 })],
  ['announces an extension longer than the packet', spoiled({ 0: 0x90, 14: 0xff, 15: 0xff }, Buffer.alloc(8))],
  ['announces a missing extension', spoiled({ 0: 0x90 }, Buffer.alloc(2))],
  ['names 15 sources in a packet of 12 bytes', spoiled({ 0: 0x8f }, Buffer.alloc(0))],
  ['announces more padding than bytes', spoiled({ 0: 0xa0, 15: 0xff })],
  ['sends a header and nothing else', rtpPacket(1, Buffer.alloc(0))],
  ['sends a packet of 60 KB', rtpPacket(1, Buffer.alloc(60_000, 0x65))],
  ['sends an aggregation with units longer than itself', rtpPacket(1, Buffer.from([24, 0xff, 0xff, 5]))],
  ['sends an empty aggregation', rtpPacket(1, Buffer.from([24]))],
  ['sends an aggregation of empty units', rtpPacket(1, Buffer.concat([Buffer.from([24]), Buffer.alloc(900)]))],
  ['sends a fragment without a header', rtpPacket(1, Buffer.from([28]))],
  ['sends another payload type', rtpPacket(1, Buffer.from([5]), 111)],
  ['sends a payload type that looks like a report', rtpPacket(1, Buffer.from([5]), 0xc8)],
]

/** Invalid descriptions, packets and reports. */
export const hostileMedia: HostileCase[] = [
  // Descriptions.
  described('describes nothing', track([]), 'refused: noUsableTrack'),
  described(
    'describes noise',
    Buffer.from(Array.from({ length: 9_000 }, (_, i) => (i * 7) & 0xff)).toString('latin1'),
    'refused: noUsableTrack',
  ),
  described(
    'describes 1,000 tracks',
    track(Array.from({ length: 1_000 }, () => 'm=video 0 RTP/AVP 25')),
    'refused: noUsableTrack',
  ),
  described(
    'describes its track after 1,000 others',
    `${track(Array.from({ length: 1_000 }, () => 'm=audio 0 RTP/AVP 7'))}m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n`,
    'refused: noUsableTrack',
  ),
  described('describes 64 KB of formats', `${h264Description}${'a=fmtp:96 x=1;\r\n'.repeat(3_900)}`, 'stays'),
  described('describes one line of 60 KB', `${h264Description}a=fmtp:96 ${'x=1;'.repeat(15_000)}\r\n`, 'stays'),
  described(
    'has parameter sets that are not base64',
    h264('sprop-parameter-sets=!!!,***;packetization-mode=1'),
    'stays',
  ),
  described('has empty parameter sets', h264('sprop-parameter-sets=,,,,;packetization-mode=1'), 'stays'),
  described(
    'has a parameter set of 3 KB',
    h264(`sprop-parameter-sets=${Buffer.alloc(2_200, 0x67).toString('base64')},aM48gA==`),
    'stays',
  ),
  described('has 1,000 parameter sets', h264(`sprop-parameter-sets=${'Zw==,'.repeat(700)}`), 'stays'),
  described(
    'has a parameter set of zeros',
    h264(`sprop-parameter-sets=${Buffer.alloc(200).toString('base64')},aA==`),
    'stays',
  ),
  described('has an invalid profile', h264('profile-level-id=zzzzzzzzzzzz;packetization-mode=1'), 'stays'),
  described('has a packetization mode of 99', h264('packetization-mode=99'), 'stays'),
  described(
    'has a payload type above 127',
    track(['m=video 0 RTP/AVP 300', 'a=rtpmap:300 H264/90000']),
    'refused: noUsableTrack',
  ),
  described(
    'has a clock of 10^30 Hz',
    track(['m=video 0 RTP/AVP 96', 'a=rtpmap:96 H264/1000000000000000000000000000000']),
    'refused: noUsableTrack',
  ),
  described(
    'has a codec of 3 KB',
    track(['m=video 0 RTP/AVP 96', `a=rtpmap:96 ${'H'.repeat(3_000)}/90000`]),
    'refused: noUsableTrack',
  ),
  described(
    'has one payload type for picture and sound',
    track([
      'm=video 0 RTP/AVP 96',
      'a=rtpmap:96 H264/90000',
      'a=control:1',
      'm=audio 0 RTP/AVP 96',
      'a=rtpmap:96 OPUS/48000/2',
      'a=control:2',
    ]),
    'stays',
  ),
  described('controls its track on another host', controlled('rtsp://u:p@127.0.0.9:22/x'), 'stays'),
  described('has a control attribute of 3 KB', controlled('x'.repeat(3_000)), 'refused: noUsableTrack'),
  described('has a control attribute of odd characters', controlled('a b\u0007 \u00e9 RTSP/1.0 %zz ?#'), 'stays'),
  described('has the control attribute __proto__', controlled('__proto__'), 'stays'),
  // Packets.
  ...oddPackets.map(([what, bytes]) => media(what, (caller) => caller.rtp(bytes))),
  media('jumps in its sequence numbers', (caller) => {
    for (const sequence of [1, 65_535, 2, 32_768, 3, 0, 40_000]) caller.rtp(rtpPacket(sequence))
  }),
  media('repeats one sequence number', (caller) => {
    for (let i = 0; i < 200; i++) caller.rtp(rtpPacket(7))
  }),
  media('changes its source in the middle', (caller) => {
    for (let ssrc = 0; ssrc < 200; ssrc++) caller.rtp(spoiled({ 8: ssrc, 9: ssrc }))
  }),
  media('starts a picture with every packet', (caller) => {
    for (let i = 0; i < 500; i++) caller.rtp(rtpPacket(i))
  }),
  // Reports.
  report('sends a report of one byte', Buffer.from([0x81])),
  report('sends a report shorter than announced', Buffer.from([0x80, 200, 0xff, 0xff, 0, 0, 0, 1])),
  report('sends a sender report without its fields', Buffer.from([0x80, 200, 0, 1, 0, 0, 0, 1])),
  report('sends a report with a clock of zero', Buffer.concat([Buffer.from([0x80, 200, 0, 6]), Buffer.alloc(24)])),
  report(
    'sends a report with the maximum clock',
    Buffer.concat([Buffer.from([0x80, 200, 0, 6]), Buffer.alloc(24, 0xff)]),
  ),
  report('sends BYE and continues', Buffer.from([0x81, 203, 0, 1, 0, 0, 0, 1])),
  report('sends 60 KB of reports', Buffer.alloc(60_000, Buffer.from([0x80, 200, 0, 0]))),
  // The stream.
  {
    what: 'plays and sends nothing',
    script: { PLAY: (caller, request) => caller.answer(request) },
    outcome: 'refused: timeout',
  },
  {
    what: 'plays, sends one packet and is silent',
    script: {
      PLAY: (caller, request) => {
        caller.answer(request)
        caller.rtp()
      },
    },
    outcome: 'lost: stalled',
  },
  {
    what: 'sends its first packet before it answers PLAY',
    script: {
      PLAY: (caller, request) => {
        caller.rtp()
        caller.usual(request)
      },
    },
    outcome: 'stays',
  },
  { what: 'resets while it plays', script: whilePlaying((caller) => caller.reset()), outcome: 'lost: closed' },
  {
    what: 'closes its side while it plays',
    script: whilePlaying((caller) => void caller.socket.end()),
    outcome: 'lost: closed',
  },
  {
    what: 'sends a stray byte while it plays',
    script: whilePlaying((caller) => caller.write(Buffer.from([1]))),
    outcome: 'stays',
  },
  {
    what: 'sends a stray byte right after its first packet',
    over: 'tcp',
    script: {
      PLAY: (caller, request) => {
        caller.socket.cork()
        caller.answer(request)
        caller.rtp()
        caller.write(Buffer.from([1]))
        caller.socket.uncork()
      },
    },
    outcome: 'lost: stalled',
  },
]
