import { h264Content, h265Content, keyFrame, noContent } from '../rtp/key-frame.ts'
import { isPadding, sequenceOf, timestampOf } from '../rtp/packet.ts'
import { aggregatePacket, nalPiecesOf, packings, pictureUnits, unitPackets } from '../rtp/nal-units.ts'
import { Renumbering } from '../rtp/renumber.ts'
import { PacketSequence } from '../transcode/packet-sequence.ts'
import { ParameterSets } from './parameter-sets.ts'
import { PacketCheck } from './packet-check.ts'
import { PictureRebuild, silenceMs } from './picture-rebuild.ts'

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
