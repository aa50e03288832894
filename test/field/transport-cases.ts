import { changed } from '../support/camera/hostile-case.ts'
import { interleaved } from '../support/camera/hostile-camera.ts'
import type { FieldCase, FieldSound } from '../support/field/field-case.ts'
import type { FieldFilm } from '../support/field/field-film.ts'
import { marked, payloadsOf, usualPacker } from '../support/field/packing.ts'
import { lines, pictureSection, sessionLines } from '../support/field/field-camera.ts'

const g711: FieldSound = {
  section: ['m=audio 0 RTP/AVP 0', 'a=control:track2'],
  ...{ payloadType: 0, everyMs: 20, ticks: 160, recordedAs: 'flac' },
  payload: (index) => Buffer.from(Array.from({ length: 160 }, (_, n) => 0x80 + ((n * 5 + index) % 60))),
}
const aac = ['m=audio 0 RTP/AVP 97', 'a=rtpmap:97 MPEG4-GENERIC/16000/1']

/** A packet of metadata: of another payload type. */
const metadata = Buffer.concat([
  Buffer.from([0x80, 107, 0, 1, 0, 0, 0, 1, 0, 0, 0, 9]),
  Buffer.from('<tt:MetadataStream/>'),
])

/** Channels, ports, and extras of packets. */
export const transportCases: FieldCase[] = [
  {
    quirk: 'the channels are renumbered',
    source: 'servers that count channels from 0 for each client',
    script: {
      SETUP: (caller, request) =>
        caller.setUp(request, { headers: { Transport: 'RTP/AVP/TCP;unicast;interleaved=4-5' } }),
    },
    packets: (packets) => packets.map((packet) => interleaved(4, packet)),
  },
  {
    quirk: 'the channels are renumbered, and the asked ones are used',
    source: 'servers with a fixed answer text',
    script: {
      SETUP: (caller, request) =>
        caller.setUp(request, { headers: { Transport: 'RTP/AVP/TCP;unicast;interleaved=6-7' } }),
    },
  },
  {
    quirk: 'both tracks are granted the same channels, and sound comes on those that were asked for',
    source: 'report at go2rtc: interleaved=0-1 twice',
    sound: g711,
    script: {
      SETUP: (caller, request) =>
        caller.setUp(request, { headers: { Transport: 'RTP/AVP/TCP;unicast;interleaved=0-1' } }),
    },
  },
  {
    quirk: 'both tracks come on one channel',
    source: 'encoders with one stream of packets',
    sound: { ...g711, channel: 0 },
    script: {
      SETUP: (caller, request) =>
        caller.setUp(request, { headers: { Transport: 'RTP/AVP/TCP;unicast;interleaved=0-1' } }),
    },
  },
  {
    quirk: 'packets come on channels that nobody set up',
    source: 'cameras that send metadata unasked',
    packets: (packets, picture) => (picture % 5 === 0 ? [interleaved(8, metadata), ...packets] : packets),
  },
  { quirk: 'TCP is refused', source: 'old encoders', over: 'udp' },
  {
    quirk: 'TCP is refused, and the parameter sets come in packets of their own',
    source: 'old encoders',
    over: 'udp',
    description: (film) => lines(sessionLines, 'a=control:*', pictureSection(film, { format: 'packetization-mode=1' })),
  },
  {
    quirk: 'TCP is refused, and the first packet is the beginning of a message',
    source: 'encoders that describe their parameter sets and send their settings in the stream',
    over: 'udp',
    packing: ({ units }) => marked(payloadsOf(units)),
  },
  {
    quirk: 'UDP comes from other ports than those that were named',
    source: 'cameras behind NAT',
    over: 'udp',
    script: {
      SETUP: changed((text) => text.replace(/server_port=\d+-\d+/, 'server_port=6970-6971')),
    },
  },
  {
    quirk: 'UDP without server ports',
    source: 'embedded servers',
    over: 'udp',
    script: { SETUP: changed((text) => text.replace(/;server_port=\d+-\d+/, '')) },
  },
  {
    quirk: 'UDP with a source that is no address',
    source: 'cameras with a host name of their own',
    over: 'udp',
    script: { SETUP: changed((text) => text.replace(/server_port/, 'source=camera.local;server_port')) },
  },
  {
    quirk: 'packets of UDP come in another order',
    source: 'radio links',
    over: 'udp',
    packets: (packets, picture) => (picture % 7 === 3 ? packets.toReversed() : packets),
  },
  {
    quirk: 'packets of UDP come in another order, with a marker on each unit',
    source: 'radio links behind encoders that send slices as pictures',
    over: 'udp',
    packing: (...picture) =>
      usualPacker(...picture).map((packet) => ({ ...packet, marker: packet.marker || packet.payload.length < 600 })),
    packets: (packets, picture) => (picture % 7 === 3 ? packets.toReversed() : packets),
    expected: { learns: 4 },
  },
  {
    quirk: 'each packet has a source list, an extension and padding',
    source: 'recorders in replay (ONVIF Streaming Specification, section 6.3)',
    packets: (packets) =>
      packets.map((packet) => {
        const head = Buffer.from(packet.subarray(0, 12))
        head[0] = 0x80 | 0x20 | 0x10 | 1
        const extension = Buffer.from('abac0003' + 'e0000000'.repeat(3), 'hex')
        const padding = Buffer.from([0, 0, 0, 4])
        return Buffer.concat([head, Buffer.from([1, 2, 3, 4]), extension, packet.subarray(12), padding])
      }),
  },
  {
    quirk: 'the synchronization source changes with each group',
    source: 'encoders that restart',
    packets: (packets, picture) => {
      for (const packet of packets) packet.writeUInt32BE(1_000 + Math.floor(picture / 10), 8)
      return packets
    },
    expected: { unseen: true },
  },
  {
    quirk: 'source, numbers and timestamps begin anew in the middle',
    source: 'encoders that restart behind an RTSP server',
    packets: (packets, picture) => {
      for (const packet of picture < 30 ? [] : packets) {
        packet.writeUInt32BE(0x77777777, 8)
        packet.writeUInt16BE((packet.readUInt16BE(2) + 31_000) & 0xffff, 2)
        packet.writeUInt32BE((packet.readUInt32BE(4) + 2_000_000_000) >>> 0, 4)
      }
      return packets
    },
    expected: { learns: 2 },
  },
  {
    quirk: 'the payload type is another one than the description says',
    source: 'cameras whose description is older than their settings',
    payloadType: 98,
    expected: { learns: 8 },
  },
  {
    quirk: 'the section names several formats, and the second is sent',
    source: 'report at go2rtc: m=video 0 RTP/AVP 96 97 26',
    payloadType: 97,
    description: (film) => {
      const [, map = '', format = '', control = ''] = pictureSection(film)
      const others = ['a=rtpmap:96 MP4V-ES/90000', 'a=fmtp:96 profile-level-id=1']
      const own = [map, format].map((line) => line.replace(':96', ':97'))
      return lines(sessionLines, 'm=video 0 RTP/AVP 96 97 26', control, others, own)
    },
  },
  {
    quirk: 'an unasked back channel beside AAC is refused with 551',
    source: 'report at Frigate: ONVIF back channel',
    description: (film) =>
      lines(
        sessionLines,
        pictureSection(film),
        aac,
        'a=fmtp:97 mode=AAC-hbr;sizelength=13;indexlength=3;indexdeltalength=3;config=1408',
        'a=control:track2',
        'a=recvonly',
        'm=audio 0 RTP/AVP 0',
        'a=control:track3',
        'a=sendonly',
      ),
    script: {
      SETUP: (caller, request) =>
        request.url.endsWith('track3') ? caller.answer(request, { status: 551 }) : caller.setUp(request),
    },
  },
  {
    quirk: 'everything is sendonly',
    source: 'cameras that describe their own side',
    description: (film) => lines(sessionLines, pictureSection(film), 'a=sendonly', g711.section, 'a=sendonly'),
    sound: g711,
  },
  {
    quirk: 'the track of sound is refused',
    source: 'cameras with the microphone switched off',
    description: (film) => lines(sessionLines, pictureSection(film), g711.section),
    script: {
      SETUP: (caller, request) =>
        request.url.endsWith('track2') ? caller.answer(request, { status: 404 }) : caller.setUp(request),
    },
  },
  {
    quirk: 'a track of metadata stands before the picture',
    source: 'ONVIF cameras',
    description: (film) =>
      lines(
        sessionLines,
        'm=application 0 RTP/AVP 107',
        'a=rtpmap:107 vnd.onvif.metadata/90000',
        'a=control:track9',
        pictureSection(film),
      ),
  },
  {
    quirk: 'RTCP is nonsense',
    source: 'cameras that send zeroes as reports',
    packets: (packets, picture) => (picture % 10 === 0 ? [interleaved(1, Buffer.alloc(28)), ...packets] : packets),
  },
  {
    quirk: 'UDP ports are asked for, and the media comes before PLAY is answered',
    source: 'old encoders',
    over: 'udp',
    script: {
      PLAY: (caller, request) => {
        caller.stream()
        caller.after(150, () => caller.answer(request))
      },
    },
  },
]

const timestamps: readonly (readonly [string, string, (at: number) => number, FieldCase['expected']?])[] = [
  ['wrap round', 'every camera after 13 hours', (at) => 2 ** 32 - 40_000 + at * 3_600],
  ['stand still', 'report at go2rtc: one timestamp for ever', () => 90_000],
  ['are zero', 'dashboard cameras', () => 0],
  ['are twice too fast', 'encoders of half the rate', (at) => at * 7_200],
  ['count milliseconds', 'encoders with a clock of 1 kHz in 90 kHz', (at) => at * 40],
  // A recording begins anew with the next group.
  [
    'jump by an hour in the middle',
    'cameras that set their clock',
    (at) => at * 3_600 + (at > 30 ? 324_000_000 : 0),
    { learns: 10 },
  ],
  [
    'go back by a minute in the middle',
    'cameras that set their clock',
    (at) => 10_000_000 + at * 3_600 - (at > 30 ? 5_400_000 : 0),
    { unseen: true, learns: 10 },
  ],
  ['jitter', 'encoders that stamp by arrival', (at) => at * 3_600 + (at % 3) * 300],
]

const unmarkedAndFrozen: FieldCase = {
  quirk: 'timestamps stand still, and no marker is set',
  source: 'dashboard cameras',
  timestamp: () => 90_000,
  packing: (...picture) => usualPacker(...picture).map((packet) => ({ ...packet, marker: false })),
  expected: { learns: 2 },
}

/** Clocks of pictures that descriptions declare, in Hz, and by which the timestamps count. */
const declaredClocks = [25, 1_000, 48_000, 10_000_000]

/** Describes a picture with a clock of its own. */
const clocked =
  (clock: number) =>
  (film: FieldFilm): string =>
    lines(sessionLines, pictureSection(film)).replace('/90000', `/${clock}`)

/** Timestamps that RFC 3550 does not have. */
export const timeCases: FieldCase[] = [
  ...timestamps.map(
    ([what, source, timestamp, expected]): FieldCase => ({
      quirk: `timestamps ${what}`,
      source,
      timestamp,
      ...(expected === undefined ? {} : { expected }),
    }),
  ),
  unmarkedAndFrozen,
  ...declaredClocks.map(
    (clock): FieldCase => ({
      quirk: `timestamps count by a declared clock of ${clock} Hz`,
      source: 'programs that send the time base of a file; ffprobe plays them',
      description: clocked(clock),
      timestamp: (at) => (90_000 + at * (clock / 25)) % 2 ** 32,
    }),
  ),
  {
    quirk: 'a clock of 48 kHz is declared, and the timestamps count by 90 kHz',
    source: 'hand-written servers that copy the line of the sound',
    description: clocked(48_000),
  },
]
