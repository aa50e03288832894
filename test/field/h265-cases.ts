import type { FieldCase } from '../support/field/field-case.ts'
import { lines, pictureSection, sessionLines } from '../support/field/field-camera.ts'
import {
  fragments,
  marked,
  type Packer,
  type Packing,
  payloadsOf,
  unitsWithSets,
  usualPacker,
} from '../support/field/packing.ts'

const code = Buffer.from([0, 0, 0, 1])
const typeOf = (unit: Buffer): number => ((unit[0] ?? 0) >> 1) & 0x3f
const isSet = ({ payload }: Packing): boolean => typeOf(payload) >= 32 && typeOf(payload) <= 34
const delimiter = Buffer.from([0x46, 0x01, 0x10])
const message = Buffer.from([0x4e, 0x01, 0x05, 0x04, 1, 2, 3, 4, 0x80])
const withoutSets: Packer = ({ units }) => marked(payloadsOf(units, 'H265'))
/** The node compares some pictures with each other before it repairs a stream. */
const learns = { learns: 4 }

/** Packs as usual, and changes packets. */
const changedPackets =
  (change: (packets: Packing[], index: number) => Packing[]): Packer =>
  (picture, film, index) =>
    change(usualPacker(picture, film, index), index)

/** RFC 7798, section 4.4.2. */
const aggregate = (units: readonly Buffer[]): Buffer =>
  Buffer.concat([
    Buffer.from([48 << 1, 1]),
    ...units.flatMap((unit) => [Buffer.from([unit.length >> 8, unit.length & 0xff]), unit]),
  ])

const forms: readonly (readonly [quirk: string, how: Partial<FieldCase>])[] = [
  [
    'the marker is set on each packet',
    { packing: changedPackets((all) => all.map((each) => ({ ...each, marker: true }))), expected: learns },
  ],
  [
    'the marker is set on parameter sets',
    {
      packing: changedPackets((all) => all.map((each) => ({ ...each, marker: each.marker || isSet(each) }))),
      expected: learns,
    },
  ],
  [
    'units with start codes between them share one packet',
    {
      packing: (picture, film) =>
        marked(
          fragments(
            Buffer.concat(unitsWithSets(picture, film).flatMap((unit, i) => (i === 0 ? [unit] : [code, unit]))),
            'H265',
          ),
        ),
      expected: learns,
    },
  ],
  [
    'each unit begins with a start code',
    {
      packing: (picture, film) =>
        marked(
          payloadsOf(
            unitsWithSets(picture, film).map((unit) => Buffer.concat([code, unit])),
            'H265',
          ),
        ),
      expected: learns,
    },
  ],
  ['parameter sets are in the description only', { packing: withoutSets }],
  [
    'parameter sets are in the packets only',
    {
      description: (film) => lines(sessionLines, pictureSection(film, { format: '' })),
    },
  ],
  [
    'parameter sets are one aggregate',
    {
      packing: ({ units, key }, { sets }) => marked([...(key ? [aggregate(sets)] : []), ...payloadsOf(units, 'H265')]),
    },
  ],
  [
    'fragments have the start and the end bit both',
    {
      packing: ({ units, key }, { sets }) =>
        marked([...(key ? sets : []), ...units.flatMap((unit) => fragments(unit, 'H265', 100_000))]),
      expected: learns,
    },
  ],
  [
    'the type in the header of fragments changes',
    {
      packing: changedPackets((all) =>
        all.map((each) => {
          const flags = each.payload[2] ?? 0
          if (typeOf(each.payload) !== 49 || (flags & 0x80) !== 0) return each
          const changed = Buffer.from(each.payload)
          changed[2] = (flags & 0xc0) | 1
          return { ...each, payload: changed }
        }),
      ),
    },
  ],
  [
    'delimiters and messages come with each picture',
    {
      packing: ({ units, key }, { sets }) =>
        marked(payloadsOf([delimiter, ...(key ? sets : []), message, ...units], 'H265')),
    },
  ],
  [
    'parameter sets come with the timestamp of the picture before',
    {
      packing: changedPackets((all) =>
        all.map((each) => (isSet(each) ? { ...each, later: -3_600, marker: typeOf(each.payload) === 34 } : each)),
      ),
      expected: learns,
    },
  ],
  [
    'packets are empty',
    { packing: changedPackets((all) => [{ payload: Buffer.alloc(0), marker: false }, ...all]), expected: learns },
  ],
  ['the codec is HEVC', { description: (film) => lines(sessionLines, pictureSection(film)).replace('H265', 'HEVC') }],
  [
    'parameter sets are in the description, at the end of the section of the sound',
    {
      packing: withoutSets,
      description: (film) => {
        const section = pictureSection(film)
        const format = section.filter((line) => line.startsWith('a=fmtp'))
        return lines(
          sessionLines,
          section.filter((line) => !format.includes(line)),
          'm=audio 0 RTP/AVP 8',
          'a=control:track2',
          format,
        )
      },
    },
  ],
  ['TCP is refused', { over: 'udp' }],
  [
    'packets of UDP come in another order, without markers',
    {
      over: 'udp',
      packing: changedPackets((all) => all.map((each) => ({ ...each, marker: false }))),
      packets: (packets, picture) => (picture % 7 === 3 ? packets.toReversed() : packets),
      expected: learns,
    },
  ],
  ['timestamps stand still', { timestamp: () => 90_000 }],
]

/** Ways in which cameras pack pictures of H.265 that they have in common with those of H.264. */
export const h265Cases: FieldCase[] = forms.map(
  ([quirk, how]): FieldCase => ({
    quirk: `H.265: ${quirk}`,
    source: 'as of H.264',
    film: 'h265',
    ...how,
    expected: { converted: true, ...how.expected },
  }),
)
