import { h264Content, h265Content, keyFrame, noContent } from '../rtp/key-frame.ts'
import {
  aggregatePacket,
  holdsStartCode,
  nalPiecesOf,
  type Packing,
  packings,
  pictureUnits,
  type PictureUnits,
  unitPackets,
} from '../rtp/nal-units.ts'
import {
  hasMarker,
  headerLength,
  isPadding,
  payloadOf,
  sequenceDistance,
  sequenceOf,
  timestampOf,
} from '../rtp/packet.ts'
import { Renumbering } from '../rtp/renumber.ts'
import { PacketSequence } from '../rtp/packet-sequence.ts'
import { ParameterSets } from './parameter-sets.ts'
import { enoughFrozen, PictureRebuild, silenceMs } from './picture-rebuild.ts'

/**
 * Number of consecutive pictures without a fault after which the first rebuilding ends. Each further rebuilding
 * requires four times as many.
 */
const enoughClean = 50

/** Maximum number of UDP packets held back until a late packet arrives: half of a large picture. */
const maxWaiting = 64

export interface CleanPicturesOptions {
  codec: 'H264' | 'H265'
  /** Parameter sets from the stream's description. */
  described: readonly Buffer[]
  /** Takes the packets and owns them from then on. */
  emit: (packet: Buffer) => void
  /** Calls `run` after a delay, unless the returned function is called first. */
  after: (milliseconds: number, run: () => void) => () => void
  /** Returns the time of a monotonic clock, in milliseconds. */
  now?: () => number
}

/**
 * Normalizes the packets of one video track, so that all consumers (viewers, recorder, conversion, snapshots) can
 * rely on markers, timestamps, packing and parameter sets. A clean stream passes packet by packet, with the source's
 * numbers until a packet is inserted or dropped. After a fault the stream is rebuilt, until it has been clean for some
 * time: rebuilding costs a fifth more CPU, and some sources are faulty only at their start.
 */
export class CleanPictures {
  readonly #options: CleanPicturesOptions
  readonly #sets: ParameterSets
  readonly #check: PacketCheck
  readonly #contentOf: (packet: Buffer) => number
  /** Renumbering of the packets; undefined: packets keep their source's numbers. */
  #numbers: Renumbering | undefined
  #rebuild: PictureRebuild | undefined
  /** Reorders packets on their way to `#rebuild`. */
  #order: PacketSequence | undefined
  /**
   * Progress of rebuilding: number of consecutive pictures without a fault, number that ends the rebuilding, and
   * timestamp of the last picture.
   */
  #clean = { pictures: 0, enough: enoughClean, timestamp: -1 }
  #sent = -1
  /**
   * Last picture with parameter sets or parts of a key picture: the types of its units, and whether the key picture has
   * begun.
   */
  #noted = { timestamp: -1, types: new Set<number>(), isBegun: false }

  constructor(options: CleanPicturesOptions) {
    this.#options = options
    this.#sets = new ParameterSets(options.codec, options.described)
    this.#check = new PacketCheck(options.codec, this.#sets)
    this.#contentOf = options.codec === 'H264' ? h264Content : h265Content
  }

  push(packet: Buffer): void {
    const isClean = isPadding(packet) || this.#check.isClean(packet)
    if (this.#order !== undefined && !this.#isOver(packet, isClean)) return this.#order.push(packet)
    if (isClean) return this.#pass(packet)
    this.#rebuildFrom(packet)
    this.#check.forget()
  }

  /** Ends the rebuilding before this packet if the stream is clean again. Returns whether the rebuilding ended. */
  #isOver(packet: Buffer, isClean: boolean): boolean {
    const clean = this.#clean
    if (!isClean || !this.#check.isInOrder || !this.#check.isFaultless) {
      clean.pictures = 0
      this.#check.forget()
      return false
    }
    const timestamp = timestampOf(packet)
    if (timestamp === clean.timestamp) return false
    clean.timestamp = timestamp
    clean.pictures += 1
    if (clean.pictures <= clean.enough) return false
    const last = this.#rebuild?.handOver()
    if (last === undefined) return false
    this.#numbers = new Renumbering(last)
    this.#rebuild = undefined
    this.#order = undefined
    clean.pictures = 0
    clean.enough *= 4
    return true
  }

  close(): void {
    this.#rebuild?.close()
  }

  #rebuildFrom(packet: Buffer): void {
    const { codec, emit, after, now = () => performance.now() } = this.#options
    const rebuild = new PictureRebuild({
      ...{
        codec,
        emit,
        after,
        now,
        sets: this.#sets,
        sharedTimestamp: this.#check.isFrozen ? timestampOf(packet) : undefined,
      },
      firstNumber: (this.#sent + 1) & 0xffff,
    })
    this.#rebuild = rebuild
    this.#order = new PacketSequence(maxWaiting, (each) => rebuild.push(each), { maxMs: silenceMs, now })
    this.#order.push(packet)
  }

  /** Sends a packet unchanged, preceded by the parameter sets that its picture lacks. */
  #pass(packet: Buffer): void {
    const content = this.#contentOf(packet)
    if (content !== noContent) this.#noteContent(packet, content)
    if (this.#numbers !== undefined && !this.#numbers.apply(packet)) return
    this.#sent = sequenceOf(packet)
    this.#options.emit(packet)
  }

  #noteContent(packet: Buffer, content: number): void {
    const { codec } = this.#options
    const timestamp = timestampOf(packet)
    if (this.#noted.timestamp !== timestamp) this.#noted = { timestamp, types: new Set(), isBegun: false }
    const { types, isBegun } = this.#noted
    for (const { header, type, body, begins, ends } of nalPiecesOf(packet, packings[codec])) {
      types.add(type)
      if (begins && ends && pictureUnits[codec].parameterSets.includes(type))
        this.#sets.note(Buffer.concat([header, body]))
    }
    if ((content & keyFrame) === 0 || isBegun) return
    this.#noted.isBegun = true
    // Over UDP, the parameter sets may be in packets that are still missing.
    if (!this.#check.isInOrder) return
    const missing = this.#sets.missing(types)
    if (missing.length > 0) this.#insert(missing, packet)
  }

  #insert(units: readonly Buffer[], before: Buffer): void {
    this.#numbers ??= new Renumbering()
    const packing = packings[this.#options.codec]
    const aggregate = aggregatePacket(units, before, packing)
    const packets = aggregate === undefined ? unitPackets(units, before, 0, packing, false).packets : [aggregate]
    for (const packet of packets) {
      packet.writeUInt16BE(this.#numbers.insert(before), 2)
      this.#options.emit(packet)
    }
  }
}

/**
 * Number of packets at the beginning of a stream that are searched for start codes completely. In later packets only
 * the first payload bytes are checked.
 */
const searchedPackets = 300
/** Number of contradictions after which markers are no longer trusted. */
const enoughContradictions = 2
/** Maximum distance of a late packet behind the newest, in sequence numbers. Larger distances mean a restart. */
const maxLate = 1_000

/** Checks whether packets of H.264 and H.265 conform to RFC 6184 and RFC 7798: packing, markers, timestamps. */
class PacketCheck {
  readonly #format: { packing: Packing; units: PictureUnits; sets: Pick<ParameterSets, 'mayHaveFields'> }
  #packets = 0
  #sequence = -1
  #timestamp = -1
  /** Whether the last packet had a marker. */
  #marked = false
  #hasPicture = false
  #contradictions = 0
  #frozen = 0

  /** @param sets known parameter sets of the stream */
  constructor(codec: 'H264' | 'H265', sets: Pick<ParameterSets, 'mayHaveFields'>) {
    this.#format = { packing: packings[codec], units: pictureUnits[codec], sets }
  }

  /** Whether the last packet directly followed the previous one. */
  isInOrder = true

  /** Whether no packet contradicted markers or timestamps since the beginning or the last call of `forget`. */
  get isFaultless(): boolean {
    return this.#contradictions === 0 && this.#frozen === 0
  }

  /** Resets the counts of packets and faults. */
  forget(): void {
    this.#packets = 0
    this.#contradictions = 0
    this.#frozen = 0
  }

  /** Whether pictures share a timestamp without being fields of one frame. */
  get isFrozen(): boolean {
    return this.#frozen > 0 && (this.#frozen >= enoughFrozen || !this.#format.sets.mayHaveFields)
  }

  /**
   * Returns whether a packet conforms by itself and compared with the previous packets, so that it can be sent
   * unchanged. Must not be called for padding.
   */
  isClean(packet: Buffer): boolean {
    const at = headerLength(packet)
    this.#packets += 1
    return this.#isReadable(packet, at) && !this.#isContradicted(packet, at)
  }

  /** @param at offset of the payload */
  #isReadable(packet: Buffer, at: number): boolean {
    const { header, typeOf, fragment, aggregation } = this.#format.packing
    const type = typeOf(packet[at] ?? 0)
    // A packet without content would count as a part of the picture at the receiver.
    if (packet.length - at <= header + (type === fragment ? 1 : 0)) return false
    // Annex B: a start code instead of a unit header.
    if ((packet[at] ?? 1) === 0 && (packet[at + 1] ?? 1) === 0) return false
    // Lengths inside an aggregate may look like a start code.
    if (type === aggregation) return isFilled(payloadOf(packet).subarray(header))
    return this.#packets > searchedPackets || !holdsStartCode(packet.subarray(at))
  }

  /** Compares a packet with the previous packets. Returns whether markers or timestamps are unreliable. */
  #isContradicted(packet: Buffer, at: number): boolean {
    const { packing, units: facts } = this.#format
    const { header, typeOf, fragment, aggregation } = packing
    const sequence = sequenceOf(packet)
    const timestamp = timestampOf(packet)
    const ahead = this.#sequence < 0 ? 1 : sequenceDistance(this.#sequence, sequence)
    this.isInOrder = ahead === 1
    // A late UDP packet, or a retransmission.
    if (ahead <= 0 && ahead > -maxLate) return false
    const follows = this.#sequence >= 0 && ahead === 1
    const isFragment = typeOf(packet[at] ?? 0) === fragment
    const flags = packet[at + header] ?? 0
    const type = isFragment ? flags & (header === 1 ? 0x1f : 0x3f) : typeOf(packet[at] ?? 0)
    const isStart = !isFragment || (flags & 0x80) !== 0
    const body = at + header + (isFragment ? 1 : 0)
    const begins = isStart && facts.beginsPicture(type, packet[body] ?? 0)
    if (timestamp !== this.#timestamp) {
      if (follows && !this.#marked && this.#hasPicture) this.#contradictions += 1
      this.#hasPicture = false
      this.#frozen = 0
    } else if (follows && facts.isPicture(type)) {
      // Another picture with the same timestamp, or another part of a picture that had ended.
      if (begins && (this.#marked || this.#hasPicture)) this.#frozen += 1
      else if (this.#marked) this.#contradictions += 1
    }
    // A marker on parameter sets or messages does not end a picture.
    const isPicture = facts.isPicture(type) || type === aggregation
    if (hasMarker(packet) && !isPicture && !this.#hasPicture) this.#contradictions += 1
    this.#hasPicture ||= isPicture
    this.#marked = hasMarker(packet)
    this.#sequence = sequence
    this.#timestamp = timestamp
    return this.#contradictions >= enoughContradictions || this.isFrozen
  }
}

/** Whether the units fill the aggregate and none is empty: browsers drop any other aggregate completely. */
function isFilled(units: Buffer): boolean {
  let at = 0
  while (at + 2 < units.length) {
    const size = units.readUInt16BE(at)
    if (size === 0) return false
    at += 2 + size
  }
  return at === units.length
}
