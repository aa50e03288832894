import { isPadding, sequenceDistance, sequenceOf, timestampOf } from '../rtp/packet.ts'
import { largestFrame } from '../transcode/frame-assembly.ts'
import type { ParameterSets } from './parameter-sets.ts'
import { nalPiecesOf, packings, pictureUnits, type Piece, splitUnits, unitPackets } from '../rtp/nal-units.ts'

/** Silence after which a picture counts as complete, in milliseconds. All packets of a picture arrive at once. */
export const silenceMs = 80
/**
 * Number of consecutive pictures with the same timestamp above which timestamps count as frozen. Two fields of a frame
 * legitimately share a timestamp.
 */
export const enoughFrozen = 4
const ticksPerMs = 90

/** Assumed interval between pictures at the start of rebuilding, in ticks. */
const usualTicks = 40 * ticksPerMs

/**
 * Timestamps of pictures: the source's timestamp, or the arrival time if several pictures share a timestamp. Once
 * timestamps are frozen, the arrival time is used for all pictures.
 */
class PictureTimes {
  readonly #now: () => number
  isFrozen = false
  /** Timestamp of the current packets; -1 before the first packet. */
  timestamp = -1
  /** Number of pictures that began with this timestamp. */
  #pictures = 0
  /** Time of the last picture, its sent timestamp, and its source timestamp. */
  #last: { at: number; timestamp: number; source: number } | undefined

  /** @param sharedTimestamp timestamp that the first picture shares with earlier pictures; undefined: not shared */
  constructor(sharedTimestamp: number | undefined, now: () => number) {
    this.#now = now
    if (sharedTimestamp !== undefined)
      this.#last = { at: now() - usualTicks / ticksPerMs, timestamp: sharedTimestamp, source: sharedTimestamp }
  }

  /** Whether the current pictures share the timestamp of earlier pictures. */
  get isShared(): boolean {
    return this.isFrozen || this.#last?.source === this.timestamp
  }

  /** Whether the last picture was sent with its source timestamp, and the next picture can be too. */
  get isOfSource(): boolean {
    return !this.isFrozen && this.#last !== undefined && this.#last.timestamp === this.#last.source
  }

  begin(timestamp: number): void {
    this.timestamp = timestamp
    this.#pictures = 0
  }

  noteBeginning(): void {
    this.#pictures += 1
    if (this.#pictures > enoughFrozen) this.isFrozen = true
  }

  /** Returns the timestamp for the picture that is sent now. */
  next(): number {
    const at = this.#now()
    const source = this.timestamp
    const last = this.#last
    let timestamp = source
    if (last !== undefined && (this.isShared || isPassed(source, last))) {
      // After pictures with a shared timestamp, time advances at half speed until the source's timestamps are later.
      const pace = this.isShared ? ticksPerMs : ticksPerMs / 2
      timestamp = (last.timestamp + Math.max(1, Math.round((at - last.at) * pace))) >>> 0
    }
    this.#last = { at, timestamp, source }
    return timestamp
  }
}

/** Whether a timestamp is after the source timestamp of the last picture, but not after its sent timestamp. */
function isPassed(timestamp: number, last: { timestamp: number; source: number }): boolean {
  return ((timestamp - last.source) | 0) > 0 && ((timestamp - last.timestamp) | 0) <= 0
}

export interface PictureRebuildDependencies {
  codec: 'H264' | 'H265'
  sets: ParameterSets
  /** Timestamp that the first picture shares with earlier pictures; undefined: not shared. */
  sharedTimestamp: number | undefined
  /** Number of the first rebuilt packet. */
  firstNumber: number
  emit: (packet: Buffer) => void
  /** Calls `run` after a delay, unless the returned function is called first. */
  after: (milliseconds: number, run: () => void) => () => void
  /** Returns the time of a monotonic clock, in milliseconds. */
  now: () => number
}

/**
 * Extracts the pictures from a stream whose packets do not conform to RFC 6184 and RFC 7798, and packs them again.
 * Separates units that share a packet by start codes, and drops empty and undefined units. Sets a marker at the end of
 * each picture, and inserts parameter sets before each key picture that lacks them. The source's markers are ignored.
 */
export class PictureRebuild {
  readonly #dependencies: PictureRebuildDependencies
  #units: Buffer[] = []
  #bytes = 0
  /** Parts of an incomplete unit. */
  #open: Buffer[] | undefined
  #sequence = -1
  /** Header of the last packet, as the template of rebuilt packets. */
  #header: Buffer = Buffer.alloc(12)
  #next: number
  #isLost = false
  #hasPicture = false
  readonly #times: PictureTimes
  #cancel = (): void => {}

  constructor(dependencies: PictureRebuildDependencies) {
    this.#dependencies = dependencies
    this.#next = dependencies.firstNumber
    this.#times = new PictureTimes(dependencies.sharedTimestamp, dependencies.now)
  }

  /** Adds a packet. A gap or a backward jump in sequence numbers counts as loss. */
  push(packet: Buffer): void {
    const sequence = sequenceOf(packet)
    const isLost = this.#sequence >= 0 && sequenceDistance(this.#sequence, sequence) !== 1
    this.#sequence = sequence
    if (isLost) this.#lose()
    if (isPadding(packet)) return
    this.#cancel()
    const timestamp = timestampOf(packet)
    if (timestamp !== this.#times.timestamp) {
      this.flush()
      this.#times.begin(timestamp)
    }
    packet.copy(this.#header, 0, 0, 12)
    for (const piece of nalPiecesOf(packet, packings[this.#dependencies.codec])) this.#add(piece)
    if (this.#units.length > 0) this.#cancel = this.#dependencies.after(silenceMs, () => this.flush())
  }

  /** Sends the picture collected so far. */
  flush(): void {
    this.#endUnit()
    const units = this.#units
    const hasPicture = this.#hasPicture
    if (units.length === 0) return
    // Parameter sets and messages with a timestamp of their own belong to the next picture.
    if (!hasPicture && this.#bytes < largestFrame / 8) return
    this.#units = []
    this.#bytes = 0
    this.#hasPicture = false
    if (this.#isLost) {
      // Skips one number, so that receivers notice the loss.
      this.#next = (this.#next + 1) & 0xffff
      this.#isLost = false
    }
    this.#send(this.#withSets(units))
  }

  /**
   * Sends the collected picture. Ends the rebuilding if the following packets can be sent unchanged.
   * @returns the number of the last packet sent; undefined if the rebuilding has to continue
   */
  handOver(): number | undefined {
    this.flush()
    if (this.#units.length > 0 || this.#open !== undefined || this.#isLost || !this.#times.isOfSource) return undefined
    this.close()
    return (this.#next - 1) & 0xffff
  }

  close(): void {
    this.#cancel()
  }

  #lose(): void {
    this.#open = undefined
    this.#isLost = true
  }

  #add({ header, body, begins, ends }: Piece): void {
    if (begins) {
      this.#endUnit()
      this.#open = [header, body]
    } else this.#open?.push(body)
    this.#bytes += body.length
    if (this.#bytes > largestFrame) {
      this.#units = []
      this.#bytes = 0
      this.#lose()
    }
    if (ends) this.#endUnit()
  }

  #endUnit(): void {
    const open = this.#open
    this.#open = undefined
    if (open === undefined) return
    for (const unit of splitUnits(Buffer.concat(open))) this.#addUnit(unit)
  }

  #addUnit(unit: Buffer): void {
    const { codec, sets } = this.#dependencies
    const { header, typeOf } = packings[codec]
    const facts = pictureUnits[codec]
    const type = typeOf(unit[0] ?? 0)
    if (unit.length <= header || !facts.isDefined(type)) return
    const begins = facts.beginsPicture(type, unit[header] ?? 0)
    if (begins) this.#times.noteBeginning()
    if (this.#hasPicture && this.#endsBefore(begins, facts.precedesPicture(type))) this.flush()
    if (facts.parameterSets.includes(type)) sets.note(unit)
    this.#hasPicture ||= facts.isPicture(type)
    this.#units.push(unit)
  }

  /** Whether the collected picture ends before a unit with the same timestamp. */
  #endsBefore(begins: boolean, precedes: boolean): boolean {
    return (begins && !this.#dependencies.sets.mayHaveFields) || ((begins || precedes) && this.#times.isShared)
  }

  #withSets(units: readonly Buffer[]): Buffer[] {
    const { codec, sets } = this.#dependencies
    const { typeOf } = packings[codec]
    const types = new Set(units.map((unit) => typeOf(unit[0] ?? 0)))
    const isKey = [...types].some((type) => pictureUnits[codec].isKey(type))
    return isKey ? [...sets.missing(types), ...units] : [...units]
  }

  #send(units: readonly Buffer[]): void {
    const header = Buffer.from(this.#header)
    header.writeUInt32BE(this.#times.next(), 4)
    const { packets, next } = unitPackets(units, header, this.#next, packings[this.#dependencies.codec])
    this.#next = next
    for (const packet of packets) this.#dependencies.emit(packet)
  }
}
