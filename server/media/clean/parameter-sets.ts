import { BitReader } from '../base/bits.ts'
import { h264Parameters } from '../rtsp/resolution.ts'
import { pictureUnits } from '../rtp/nal-units.ts'

/** Maximum number of parameter sets per type: a stream has one or two. */
const maxSets = 16
/** Maximum size of a parameter set, in bytes. */
const maxSetBytes = 4_096

/**
 * Parameter sets of a stream, from its description and its packets, by type and id. A camera may alternate between
 * several sets. All sets are valid for the whole stream, regardless of timestamps.
 */
export class ParameterSets {
  readonly #codec: 'H264' | 'H265'
  readonly #types: readonly number[]
  readonly #sets = new Map<string, Buffer>()
  #hasFields: boolean

  /** @param described units from the description */
  constructor(codec: 'H264' | 'H265', described: readonly Buffer[] = []) {
    this.#codec = codec
    this.#types = pictureUnits[codec].parameterSets
    this.#hasFields = codec === 'H264'
    for (const unit of described) this.note(unit)
  }

  /**
   * Whether two pictures may share a timestamp: the fields of an H.264 frame. For H.264, also true while no sequence
   * parameter set is known.
   */
  get mayHaveFields(): boolean {
    return this.#hasFields
  }

  /** Stores a unit if it is a parameter set. */
  note(unit: Buffer): void {
    const type = this.#typeOf(unit)
    if (!this.#types.includes(type) || unit.length > maxSetBytes) return
    const key = `${type}/${setId(this.#codec, type, unit)}`
    const before = this.#sets.get(key)
    if (before?.equals(unit) === true) return
    if (before === undefined && this.#sets.size >= maxSets * this.#types.length) return
    // Copied, because units may be views of packets.
    this.#sets.set(key, Buffer.from(unit))
    if (this.#codec === 'H264' && type === 7) this.#hasFields = h264Parameters(unit)?.interlaced !== false
  }

  /**
   * Returns the parameter sets that a key picture lacks; none if a missing type has no known set.
   * @param present types of the units that the picture has
   */
  missing(present: ReadonlySet<number>): Buffer[] {
    const missing = this.#types.filter((type) => !present.has(type))
    const found = missing.map((type) => [...this.#sets].filter(([key]) => key.startsWith(`${type}/`)))
    return found.some((sets) => sets.length === 0) ? [] : found.flat().map(([, unit]) => unit)
  }

  #typeOf(unit: Buffer): number {
    const first = unit[0] ?? 0
    return this.#codec === 'H264' ? first & 0x1f : (first >> 1) & 0x3f
  }
}

/**
 * Returns the id of a parameter set (ITU-T H.264, sections 7.3.2.1 and 7.3.2.2; H.265, sections 7.3.2.1 to 7.3.2.3); -1
 * if the set is truncated.
 */
export function setId(codec: 'H264' | 'H265', type: number, unit: Buffer): number {
  try {
    const bits = new BitReader(unit.subarray(codec === 'H264' ? 1 : 2))
    if (codec === 'H264') {
      if (type === 7) bits.skip(24)
      return bits.unsigned()
    }
    if (type === 32) return bits.bits(4)
    if (type === 34) return bits.unsigned()
    bits.skip(4)
    const layers = bits.bits(3)
    // Nesting flag, and the general part of the profile and level.
    bits.skip(1 + 88 + 8)
    const present = Array.from({ length: layers }, () => [bits.bit(), bits.bit()])
    if (layers > 0) bits.skip(2 * (8 - layers))
    for (const [profile = 0, level = 0] of present) bits.skip(88 * profile + 8 * level)
    return bits.unsigned()
  } catch {
    // The set ends before its id.
    return -1
  }
}
