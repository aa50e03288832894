import type { FieldCase } from '../support/field/field-case.ts'
import { lines, pictureSection, sessionLines } from '../support/field/field-camera.ts'
import type { FieldFilm } from '../support/field/field-film.ts'
import { marked, type Packer, payloadsOf, usualPacker } from '../support/field/packing.ts'

const bare = (film: FieldFilm): string =>
  lines(sessionLines, 'a=control:*', pictureSection(film, { format: 'packetization-mode=1' }))

/** Packs each field by itself, the second with a timestamp so much later. */
const byField =
  (later: number): Packer =>
  ({ units, key }, { sets }) =>
    units.flatMap((unit, index) =>
      marked(payloadsOf(index === 0 && key ? [...sets, unit] : [unit])).map((packet) => ({
        ...packet,
        later: index * later,
      })),
    )

/** Pictures of two fields, and parameter sets that alternate. */
export const interlacedCases: FieldCase[] = [
  ...(
    [
      ['with one marker for both', usualPacker],
      ['with a marker for each', byField(0)],
      ['with a timestamp for each', byField(1_800)],
    ] as const
  ).map(
    ([how, packing]): FieldCase => ({
      quirk: `pictures are coded as fields, ${how}`,
      source: 'encoders of analogue cameras and broadcast (PAFF)',
      film: 'fieldCoded',
      packing,
      expected: { converted: true },
    }),
  ),
  ...(
    [
      ['stand still', 90_000],
      ['are zero', 0],
    ] as const
  ).map(
    ([how, timestamp]): FieldCase => ({
      quirk: `pictures are coded as fields, and timestamps ${how}`,
      source: 'analogue cameras behind small encoders',
      film: 'fieldCoded',
      packing: byField(0),
      timestamp: () => timestamp,
      expected: { converted: true },
    }),
  ),
  {
    quirk: 'each key picture comes with one of its parameter sets, in turn',
    source: 'encoders that refresh one set at a time',
    description: bare,
    packing: (picture, film, index) => {
      const turn = Math.floor(index / 10)
      const sets = turn === 0 ? film.sets : film.sets.slice(turn % 2, (turn % 2) + 1)
      return marked(payloadsOf(picture.key ? [...sets, ...picture.units] : picture.units))
    },
    expected: { learns: 0, files: 1 },
  },
  {
    quirk: 'the sequence parameter set changes with each group, and the size stays',
    source: 'encoders that adapt level and rate to the network',
    description: bare,
    packing: (picture, { sets: [sequence = Buffer.alloc(4), ...others] }, index) => {
      const changed = Buffer.from(sequence)
      // level_idc
      changed[3] = 30 + (Math.floor(index / 10) % 3)
      return marked(payloadsOf(picture.key ? [changed, ...others, ...picture.units] : picture.units))
    },
    expected: { files: 2 },
  },
]
