import type { FieldCase } from '../support/field/field-case.ts'
import type { FieldFilm } from '../support/field/field-film.ts'
import { lines, pictureSection, sessionLines } from '../support/field/field-camera.ts'
import {
  aggregate,
  fragments,
  jpegPayloads,
  marked,
  type Packer,
  payloadsOf,
  unitsWithSets,
  usualPacker,
} from '../support/field/packing.ts'

const code = Buffer.from([0, 0, 0, 1])
const shortCode = Buffer.from([0, 0, 1])
const typeOf = (unit: Buffer): number => (unit[0] ?? 0) & 0x1f
/** A message of x264 and of cameras: user data without a meaning. */
const sei = Buffer.from([0x06, 0x05, 0x04, 1, 2, 3, 4, 0x80])
const delimiter = Buffer.from([0x09, 0x30])
const filler = Buffer.concat([Buffer.from([0x0c]), Buffer.alloc(40, 0xff), Buffer.from([0x80])])

/** Packs units that were chosen for a picture. */
const packed =
  (choose: (units: Buffer[], key: boolean, index: number) => Buffer[]): Packer =>
  (picture, film, index) =>
    marked(payloadsOf(choose(unitsWithSets(picture, film), picture.key, index)))

/** Packs as usual, and changes payloads. */
const repacked =
  (change: (payloads: Buffer[], key: boolean, index: number) => Buffer[]): Packer =>
  (picture, film, index) =>
    marked(change(payloadsOf(unitsWithSets(picture, film)), picture.key, index))

const bare = (film: FieldFilm): string =>
  lines(sessionLines, 'a=control:*', pictureSection(film, { format: 'packetization-mode=1' }))
const elsewhereSound = ['m=audio 0 RTP/AVP 8', 'a=control:track2']
/** More packets in a few seconds than are kept of a group. */
const tinyFragments: Packer = (picture, film) => marked(payloadsOf(unitsWithSets(picture, film), 'H264', 30))
const withoutSets: Packer = ({ units }) => marked(payloadsOf(units))
const seenAtOnce = { learns: 0 }
/** The node compares some pictures with each other before it repairs a stream. */
const learns = { learns: 4 }

/** Ways in which cameras pack pictures. */
export const pictureCases: FieldCase[] = [
  // Markers.
  {
    quirk: 'the marker is never set',
    source: 'report at go2rtc: no marker',
    packing: (...picture) => usualPacker(...picture).map((packet) => ({ ...packet, marker: false })),
    expected: learns,
  },
  {
    quirk: 'the marker is set on each packet',
    source: 'encoders on FPGAs',
    packing: (...picture) => usualPacker(...picture).map((packet) => ({ ...packet, marker: true })),
    expected: learns,
  },
  {
    quirk: 'the marker is set on each unit',
    source: 'encoders that send slices as pictures',
    packing: (...picture) =>
      usualPacker(...picture).map((packet) => ({
        ...packet,
        marker: typeOf(packet.payload) !== 28 || ((packet.payload[1] ?? 0) & 0x40) !== 0,
      })),
    expected: learns,
  },
  {
    quirk: 'the marker is set on parameter sets and messages',
    source: 'report at go2rtc: marker on SPS and PPS',
    packing: (...picture) =>
      usualPacker(...picture).map((packet) => ({
        ...packet,
        marker: packet.marker || [7, 8].includes(typeOf(packet.payload)),
      })),
    expected: learns,
  },
  {
    quirk: 'the marker is on the first packet of the picture',
    source: 'encoders that read the RFC of MPEG-4',
    packing: (...picture) => usualPacker(...picture).map((packet, i) => ({ ...packet, marker: i === 0 })),
    expected: learns,
  },
  // Annex B.
  {
    quirk: 'units with start codes between them share one packet',
    source: 'report at MediaMTX: Annex B in RTP',
    packing: (picture, film) => {
      const units = unitsWithSets(picture, film)
      const whole = Buffer.concat(units.flatMap((unit, i) => (i === 0 ? [unit] : [code, unit])))
      return marked(fragments(whole, 'H264'))
    },
    expected: learns,
  },
  {
    quirk: 'each unit begins with a start code',
    source: 'reports at MediaMTX and ffmpeg',
    packing: packed((units) => units.map((unit) => Buffer.concat([code, unit]))),
    expected: learns,
  },
  {
    quirk: 'parameter sets share a packet by short start codes',
    source: 'HiSilicon kits',
    packing: (picture, film) => {
      const sets = Buffer.concat(film.sets.flatMap((unit, i) => (i === 0 ? [unit] : [shortCode, unit])))
      return marked([...(picture.key ? [sets] : []), ...payloadsOf(picture.units)])
    },
    expected: learns,
  },
  // Aggregates and fragments.
  {
    quirk: 'everything small is aggregated',
    source: 'GStreamer with aggregate-mode',
    packing: (picture, film) => {
      const small = picture.key ? film.sets : []
      return marked([...(small.length > 0 ? [aggregate(small)] : []), ...payloadsOf(picture.units)])
    },
    expected: seenAtOnce,
  },
  {
    quirk: 'an aggregate holds one unit',
    source: 'encoders that aggregate always',
    packing: repacked((payloads) => payloads.map((each) => (typeOf(each) === 28 ? each : aggregate([each])))),
    expected: seenAtOnce,
  },
  {
    quirk: 'an aggregate holds an empty unit, and bytes behind the last one',
    source: 'encoders that pad aggregates',
    packing: (picture, film) => {
      const small = picture.key ? [aggregate([...film.sets, Buffer.alloc(0)])] : []
      return marked([...small.map((each) => Buffer.concat([each, Buffer.from([0])])), ...payloadsOf(picture.units)])
    },
    expected: learns,
  },
  {
    quirk: 'fragments have the start and the end bit both',
    source: 'report at go2rtc: FU-A of one packet',
    packing: repacked((payloads) =>
      payloads.flatMap((each) => ([7, 8, 28].includes(typeOf(each)) ? [each] : fragments(each, 'H264', 100_000))),
    ),
    expected: learns,
  },
  {
    quirk: 'the type in the header of fragments changes',
    source: 'report at Frigate: FU type of later fragments',
    packing: repacked((payloads) =>
      payloads.map((each) => {
        if (typeOf(each) !== 28 || ((each[1] ?? 0) & 0x80) !== 0) return each
        return Buffer.concat([each.subarray(0, 1), Buffer.from([((each[1] ?? 0) & 0xe0) | 1]), each.subarray(2)])
      }),
    ),
    expected: seenAtOnce,
  },
  {
    quirk: 'fragments are empty',
    source: 'encoders that end a unit with an empty fragment',
    packing: repacked((payloads) =>
      payloads.flatMap((each) => {
        if (typeOf(each) !== 28 || ((each[1] ?? 0) & 0x40) === 0) return [each]
        const open = Buffer.from(each)
        open[1] = (each[1] ?? 0) & 0xbf
        return [open, each.subarray(0, 2)]
      }),
    ),
    expected: learns,
  },
  {
    quirk: 'packets are empty',
    source: 'keep-alive packets of encoders behind NAT',
    packing: repacked((payloads) => [Buffer.alloc(0), ...payloads]),
    expected: learns,
  },
  {
    quirk: 'fragments are tiny',
    source: 'encoders for radio links',
    packing: (picture, film) => marked(payloadsOf(unitsWithSets(picture, film), 'H264', 300)),
    expected: seenAtOnce,
  },
  {
    quirk: 'packets are as large as TCP lets them be',
    source: 'recorders: 60,000 bytes a packet',
    packing: (picture, film) => marked(payloadsOf(unitsWithSets(picture, film), 'H264', 60_000)),
    expected: seenAtOnce,
  },
  // Other units.
  {
    quirk: 'delimiters, messages and filler come with each picture',
    source: 'Axis, Bosch, and encoders with a constant rate',
    packing: packed((units) => [delimiter, sei, ...units, filler]),
    expected: seenAtOnce,
  },
  {
    quirk: 'units have types that are not defined',
    source: 'cameras with data of their makers in units of types 0, 24 and 30',
    packing: packed((units) => [Buffer.from([0x00, 1, 2, 3]), ...units]),
    expected: learns,
  },
  {
    quirk: 'zero bytes follow each unit',
    source: 'encoders that align units to 4 bytes',
    packing: packed((units) => units.map((unit) => Buffer.concat([unit, Buffer.alloc(3)]))),
    expected: { ...learns, unseen: true },
  },
  // Parameter sets.
  {
    quirk: 'parameter sets are in the description only',
    source: 'many encoders',
    packing: withoutSets,
    expected: seenAtOnce,
  },
  {
    quirk: 'parameter sets are in the description, at the end of the section of the sound',
    source: 'report at go2rtc: fmtp of the picture in another section',
    packing: withoutSets,
    description: (film) => {
      const section = pictureSection(film)
      const format = section.filter((line) => line.startsWith('a=fmtp'))
      return lines(
        sessionLines,
        section.filter((line) => !line.startsWith('a=fmtp')),
        elsewhereSound,
        format,
      )
    },
    expected: seenAtOnce,
  },
  {
    quirk: 'parameter sets are in the packets only',
    source: 'many cameras',
    description: bare,
    expected: seenAtOnce,
  },
  {
    quirk: 'parameter sets come once, with the first picture',
    source: 'encoders that send them with PLAY',
    description: bare,
    packing: (picture, film, index) =>
      index === 0 ? usualPacker(picture, film, index) : withoutSets(picture, film, index),
    expected: seenAtOnce,
  },
  {
    quirk: 'parameter sets come with the timestamp of the picture before',
    source: 'report at MediaMTX',
    packing: (picture, film, index) =>
      usualPacker(picture, film, index).map((packet) =>
        [7, 8].includes(typeOf(packet.payload))
          ? { ...packet, later: -3_600, marker: typeOf(packet.payload) === 7 }
          : packet,
      ),
    expected: learns,
  },
  {
    quirk: 'parameter sets come behind each key picture',
    source: 'encoders that send them once a second',
    packing: ({ units, key }, { sets }) => marked([...payloadsOf(units), ...(key ? sets : [])]),
    expected: { ...learns, unseen: true },
  },
  {
    quirk: 'parameter sets come with each picture',
    source: 'encoders of drones',
    packing: ({ units }, { sets }) => marked(payloadsOf([...sets, ...units])),
    expected: seenAtOnce,
  },
  {
    quirk: 'the description has no format parameters at all',
    source: 'encoders with a fixed description',
    description: (film) => lines(sessionLines, pictureSection(film, { format: '' })),
    expected: seenAtOnce,
  },
  {
    quirk: 'the parameter sets of the description are of another stream',
    source: 'cameras whose description is older than their settings',
    film: 'other',
    description: (film) =>
      lines(
        sessionLines,
        pictureSection(film, {
          format:
            'packetization-mode=1;profile-level-id=42c01e;sprop-parameter-sets=Z0LAKNoB4AiflwFqAgICgAAAAwCAAAAPR4wZUA==,aM48gA==',
        }),
      ),
    expected: seenAtOnce,
  },
  {
    quirk: 'the parameter sets of the description have no base64 in them',
    source: 'cameras that cut their description off',
    description: (film) =>
      lines(sessionLines, pictureSection(film, { format: 'packetization-mode=1;sprop-parameter-sets=%%%,;;=' })),
    expected: seenAtOnce,
  },
  // Codecs and groups.
  { quirk: 'B-frames', source: 'recorders that re-encode', film: 'bFrames', expected: { converted: true } },
  { quirk: 'open groups', source: 'broadcast encoders', film: 'openGroups', expected: { converted: true, learns: 3 } },
  {
    quirk: 'open groups of H.265',
    source: 'encoders that are set as x265 is',
    film: 'openGroupsH265',
    expected: { converted: true, learns: 2 },
  },
  {
    quirk: 'interlaced',
    source: 'analogue cameras behind encoders',
    film: 'interlaced',
    expected: { converted: true },
  },
  { quirk: 'a group of twenty seconds', source: 'smart codecs', film: 'longGroup', expected: seenAtOnce },
  {
    quirk: 'a group of twenty seconds that is recorded from its middle',
    source: 'report at Frigate: smart codecs',
    film: 'longGroup',
    playsMs: 5_000,
    recordedLate: true,
    expected: seenAtOnce,
  },
  {
    quirk: 'one IDR picture and never another, watched when its group is too long to be kept',
    source: 'encoders with intra refresh, and those whose key pictures are recovery points',
    film: 'intraRefresh',
    packing: tinyFragments,
    playsMs: 14_000,
    expected: { converted: true },
  },
  {
    quirk: 'no IDR picture at all, watched before the conversion begins',
    source: 'encoders with intra refresh that were started before the node',
    film: 'intraRefresh',
    packing: (picture, film, index) => (picture.at === 0 ? marked(film.sets) : usualPacker(picture, film, index)),
    expected: { converted: true, learns: 175 },
  },
  { quirk: 'H.265', source: 'most cameras since 2018', film: 'h265', expected: { converted: true } },
  {
    quirk: 'H.265 without markers',
    source: 'as H.264',
    film: 'h265',
    packing: (...picture) => usualPacker(...picture).map((packet) => ({ ...packet, marker: false })),
    expected: { converted: true, ...learns },
  },
  { quirk: 'VP8', source: 'media servers that pass a browser on', film: 'vp8', expected: { converted: true } },
  { quirk: 'Motion JPEG', source: 'old cameras', film: 'jpeg', expected: { converted: true, unrecorded: true } },
  {
    quirk: 'Motion JPEG of 2560×1440, whose size is in the description',
    source: 'report at go2rtc; ONVIF Streaming Specification, section 5.1.4',
    film: 'largeJpeg',
    description: (film) => lines(sessionLines, pictureSection(film), 'a=x-dimensions:2560,1440'),
    packing: ({ units: [frame = Buffer.alloc(0)] }) => marked(jpegPayloads(frame, true)),
    expected: { converted: true, unrecorded: true },
  },
]
