import { setId } from '../clean/parameter-sets.ts'
import { h264Parameters, h265Parameters } from '../rtsp/resolution.ts'
import type { PictureUnit } from '../transcode/access-units.ts'
import { avcFormat, hevcFormat } from './decoder-configuration.ts'
import type { PictureFormat } from './track-format.ts'

const maxSets = 8

/** Types of parameter sets, in the order of decoder configurations. */
const setTypes = { H264: [7, 8], H265: [32, 33, 34] } as const
const sequenceType = { H264: 7, H265: 33 } as const

/**
 * Parameter sets of a recorded stream, and the format that they define. Sets with different ids are kept side by side,
 * because some encoders alternate between them.
 */
export class FormatSets {
  readonly types: readonly number[]
  readonly #codec: 'H264' | 'H265'
  #sets: readonly (readonly Buffer[])[]
  #format: PictureFormat | undefined
  #isFormatNew = true

  /** @param described units from the stream's description */
  constructor(codec: 'H264' | 'H265', described: readonly Buffer[]) {
    this.#codec = codec
    this.types = setTypes[codec]
    const typeOf = (unit: Buffer): number => (codec === 'H264' ? (unit[0] ?? 0) & 0x1f : ((unit[0] ?? 0) >> 1) & 0x3f)
    this.#sets = this.types.map((type) => described.filter((unit) => typeOf(unit) === type).slice(0, maxSets))
  }

  /** undefined if sets are missing or broken. */
  get format(): PictureFormat | undefined {
    if (!this.#isFormatNew) return this.#format
    this.#isFormatNew = false
    const [sequence = [], picture = []] = this.#sets
    this.#format = this.#codec === 'H264' ? avcFormat(sequence, picture) : hevcFormat(this.#sets)
    return this.#format
  }

  /** Takes the parameter sets among the units of a picture. */
  note(units: readonly PictureUnit[]): void {
    const fresh = this.types.map((type) =>
      units.filter((unit) => unit.type === type).map(({ parts }) => Buffer.concat(parts)),
    )
    const at = this.types.indexOf(sequenceType[this.#codec])
    const isOther = !this.#areAlike(this.#sets[at]?.[0], fresh[at]?.[0])
    const changed = this.types.map((type, index) => {
      const [before = [], now = []] = [this.#sets[index], fresh[index]]
      return now.reduce((sets, unit) => this.#withSet(sets, type, unit), isOther && now.length > 0 ? [] : before)
    })
    if (changed.every((sets, index) => sets === this.#sets[index])) return
    this.#sets = changed
    this.#isFormatNew = true
  }

  /** Whether pictures of both sequence parameter sets can be in one file. */
  #areAlike(before: Buffer | undefined, now: Buffer | undefined): boolean {
    if (before === undefined || now === undefined || before.equals(now)) return true
    const parametersOf = this.#codec === 'H264' ? h264Parameters : h265Parameters
    const [a, b] = [parametersOf(before), parametersOf(now)]
    if (a === undefined || b === undefined) return false
    const compared = ['width', 'height', 'profile', 'chroma', 'bitDepth'] as const
    return compared.every((name) => a[name] === b[name])
  }

  /** Returns the sets with a new one added, or replaced if the id exists; the same list if the set is known. */
  #withSet(sets: readonly Buffer[], type: number, unit: Buffer): readonly Buffer[] {
    if (sets.some((each) => each.equals(unit))) return sets
    const id = setId(this.#codec, type, unit)
    const others = sets.filter((each) => setId(this.#codec, type, each) !== id)
    return [unit, ...others].slice(0, maxSets)
  }
}
