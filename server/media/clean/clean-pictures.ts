import { h264Content, h265Content, keyFrame, nothing, sequenceParameters } from '../rtp/key-frame.ts'
import { hasMarker, headerLength, isPadding, sequenceDistance, sequenceOf, timestampOf } from '../rtp/packet.ts'
import { aggregatePacket, packings, piecesOf, unitPackets } from '../rtp/refragment.ts'
import { Renumbering } from '../rtp/renumber.ts'
import { ParameterSets } from './parameter-sets.ts'
import { enoughFrozen, PictureRebuild } from './picture-rebuild.ts'
import { holdsStartCode, pictureUnits } from './picture-units.ts'

/** Packets from the beginning of a stream that are searched for start codes; later ones only at the beginning of their payload. */
const searchedPackets = 300
/** Times in which packets contradict a marker or a timestamp before it is no longer believed. */
const enoughContradictions = 2

/** How far behind the newest packet one counts as late, in numbers; further back, the source has restarted. */
const maxLate = 1_000

/** Options of a stream that is made clean. */
export interface CleanPicturesOptions {
  codec: 'H264' | 'H265'
  /** Parameter sets of its description. */
  described: readonly Buffer[]
  /** Takes the packets, which are its own from then on. */
  emit: (packet: Buffer) => void
  /** Runs after some milliseconds, unless the returned function is called before. */
  after: (milliseconds: number, run: () => void) => () => void
  /** Milliseconds of a clock that never goes back. */
  now?: () => number
}

/**
 * Makes clean media out of the packets of one picture track: everything behind it (viewers, recorder, conversion, snapshots) may believe markers, timestamps, packing and parameter
 * sets. A stream that is clean passes packet by packet, with its own numbers until something is inserted or left out. What a stream shows to be wrong is repaired from then on.
 */
export class CleanPictures {
  readonly #options: CleanPicturesOptions
  readonly #sets: ParameterSets
  readonly #contentOf: (packet: Buffer) => number
  /** undefined: the source's own numbers are sent. */
  #numbers: Renumbering | undefined
  #rebuild: PictureRebuild | undefined
  #packets = 0
  #sequence = -1
  #timestamp = -1
  /** Number of the last packet that was sent. */
  #sent = -1
  /** The last packet had a marker. */
  #marked = false
  #hasPicture = false
  /** Timestamp of the last packet with a sequence parameter set. */
  #setsAt = -1
  #contradictions = 0
  #frozen = 0

  constructor(options: CleanPicturesOptions) {
    this.#options = options
    this.#sets = new ParameterSets(options.codec, options.described)
    this.#contentOf = options.codec === 'H264' ? h264Content : h265Content
  }

  /** Takes an RTP packet of the source. */
  push(packet: Buffer): void {
    if (this.#rebuild !== undefined) return this.#rebuild.push(packet)
    if (isPadding(packet)) return this.#pass(packet)
    const first = headerLength(packet)
    this.#packets += 1
    if (this.#isUnreadable(packet, first) || this.#isContradicted(packet, first)) return this.#rebuildFrom(packet)
    this.#pass(packet)
  }

  close(): void {
    this.#rebuild?.close()
  }

  /** Whether a payload is not packed as RFC 6184 and RFC 7798 have it. @param at of the payload */
  #isUnreadable(packet: Buffer, at: number): boolean {
    const { header, typeOf, fragment } = packings[this.#options.codec]
    const type = typeOf(packet[at] ?? 0)
    const isFragment = type === fragment
    // Nothing in it: a receiver would count it as a part of the picture.
    if (packet.length - at <= header + (isFragment ? 1 : 0)) return true
    // Annex B: a start code in the place of a unit's header.
    if ((packet[at] ?? 1) === 0 && (packet[at + 1] ?? 1) === 0) return true
    return this.#packets <= searchedPackets && !this.#isAggregate(type) && holdsStartCode(packet.subarray(at))
  }

  /** Lengths of an aggregate may look like a start code. */
  #isAggregate(type: number): boolean {
    return type === packings[this.#options.codec].aggregation
  }

  /** Compares a packet with those before it. Returns whether markers or timestamps are not to be believed. */
  #isContradicted(packet: Buffer, at: number): boolean {
    const { header, typeOf, fragment } = packings[this.#options.codec]
    const facts = pictureUnits[this.#options.codec]
    const sequence = sequenceOf(packet)
    const timestamp = timestampOf(packet)
    const ahead = this.#sequence < 0 ? 1 : sequenceDistance(this.#sequence, sequence)
    // Late, over UDP or as a retransmission.
    if (ahead <= 0 && ahead > -maxLate) return false
    const follows = this.#sequence >= 0 && ahead === 1
    const isFragment = typeOf(packet[at] ?? 0) === fragment
    const flags = packet[at + header] ?? 0
    const type = isFragment ? flags & (header === 1 ? 0x1f : 0x3f) : typeOf(packet[at] ?? 0)
    const isStart = !isFragment || (flags & 0x80) !== 0
    const body = at + header + (isFragment ? 1 : 0)
    const begins = isStart && facts.beginsPicture(type, packet.subarray(body, body + 1))
    if (timestamp !== this.#timestamp) {
      if (follows && !this.#marked && this.#hasPicture) this.#contradictions += 1
      this.#hasPicture = false
      this.#frozen = 0
    } else if (follows && this.#marked && facts.isPicture(type)) {
      // Another part of a picture that had ended, or another picture of the same time.
      if (begins) this.#frozen += 1
      else this.#contradictions += 1
    }
    // A marker on sets or messages ends no picture.
    const isPicture = facts.isPicture(type) || this.#isAggregate(type)
    if (hasMarker(packet) && !isPicture && !this.#hasPicture) this.#contradictions += 1
    this.#hasPicture ||= isPicture
    this.#marked = hasMarker(packet)
    this.#sequence = sequence
    this.#timestamp = timestamp
    return this.#contradictions >= enoughContradictions || this.#frozen >= enoughFrozen
  }

  #rebuildFrom(packet: Buffer): void {
    const { codec, emit, after, now = () => performance.now() } = this.#options
    this.#rebuild = new PictureRebuild({
      ...{ codec, emit, after, now, sets: this.#sets, isFrozen: this.#frozen >= enoughFrozen },
      firstNumber: (this.#sent + 1) & 0xffff,
    })
    this.#rebuild.push(packet)
  }

  /** Sends a packet as it is, behind the parameter sets that its picture lacks. */
  #pass(packet: Buffer): void {
    const content = this.#contentOf(packet)
    if (content !== nothing) this.#noteContent(packet, content)
    if (this.#numbers !== undefined && !this.#numbers.apply(packet)) return
    this.#sent = sequenceOf(packet)
    this.#options.emit(packet)
  }

  #noteContent(packet: Buffer, content: number): void {
    const { codec } = this.#options
    const timestamp = timestampOf(packet)
    const types = new Set<number>()
    for (const { header, type, body, begins, ends } of piecesOf(packet, packings[codec])) {
      types.add(type)
      if (begins && ends && pictureUnits[codec].parameterSets.includes(type))
        this.#sets.note(Buffer.concat([header, body]))
    }
    if ((content & sequenceParameters) !== 0) this.#setsAt = timestamp
    if ((content & keyFrame) === 0 || this.#setsAt === timestamp) return
    this.#setsAt = timestamp
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
