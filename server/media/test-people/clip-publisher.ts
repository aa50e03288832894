import ndc, { type Track } from 'node-datachannel'
import type { TestPeopleSpec } from '../../../shared/media/test-people.ts'
import { readFeedback } from '../rtp/rtcp.ts'
import { audioLevelUri, sequenceOf, silentLevel, ssrcOf } from '../rtp/packet.ts'
import { ActiveBehaviours } from '../test-camera/active-behaviours.ts'
import { pictureClips, soundClip } from '../test-camera/clip.ts'
import { MediaPlayer, type PlayedMedia, type TrackTransport } from '../test-camera/media-player.ts'
import { type LinkLoss, NodeConnection, type SessionAddress } from './node-connection.ts'

/** Payload types, and numbers of the header extensions, as in Chromium. */
const videoType = 102
const audioType = 111
const levelExtension = 1
const ridExtension = 10
const ridUri = 'urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id'
/** Layers of simulcast, the largest first. */
const rids = ['h', 'l'] as const
/** Profile of the clip: constrained baseline. */
const pictureFormat = 'level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42c01e'

/** Size of an RTP header without extension, and first word of an extension with one-byte headers (RFC 8285, 4.2). */
const headerBytes = 12
const oneByteHeads = 0xbede0000
/** Opus frame of 20 ms of silence (RFC 6716, section 3.1), and maximum length of a silent frame of the clip. */
const silence = Buffer.from([0xf8, 0xff, 0xfe])
const silentBytes = 3
/** Level of speech, in -dBov, with the flag for voice (RFC 6464, section 3). */
const speech = 0x80 | 25
/** Number of packets that are kept to be sent again. */
const keptPackets = 1_024

/** Current state of a person's microphone and camera. */
interface PersonInput {
  /** Whether the person talks; otherwise the person sends silence. */
  isTalking: () => boolean
  /** Whether the camera is off, because a host muted the picture. */
  isHidden: () => boolean
}

/** Sends the bundled clip by WHIP, with audio levels, and repeats lost packets. */
export class ClipPublisher {
  readonly #connection: NodeConnection
  readonly #input: PersonInput
  /** Packets of pictures by SSRC and sequence number, the oldest first. */
  readonly #kept = new Map<string, Buffer>()
  #video: Track | undefined
  /** Players of the layers. */
  readonly #players: MediaPlayer[] = []
  /** Number of packets sent. */
  sent = 0

  private constructor(connection: NodeConnection, input: PersonInput) {
    this.#connection = connection
    this.#input = input
  }

  /** Publishes, and resolves once media flows. @throws Error if the node refuses, or no connection follows */
  static async open(
    address: SessionAddress,
    { send, simulcast }: Pick<TestPeopleSpec, 'send' | 'simulcast'>,
    loss: LinkLoss,
    input: PersonInput,
  ): Promise<ClipPublisher> {
    const publisher = new ClipPublisher(new NodeConnection(address, loss), input)
    try {
      await publisher.#publish(send === 'clip', simulcast)
    } catch (error) {
      publisher.close()
      throw error
    }
    return publisher
  }

  /** Calls `run` when the connection is closed or lost. */
  onEnd(run: () => void): void {
    this.#connection.lifetime.onEnd(run)
  }

  close(): void {
    this.#connection.close()
  }

  async #publish(hasPicture: boolean, simulcast: boolean): Promise<void> {
    const heard = (message: Buffer): void => this.#heard(message)
    if (hasPicture) {
      const video = new ndc.Video('0', 'SendOnly')
      video.addH264Codec(videoType, pictureFormat)
      this.#video = this.#connection.addTrack(video, heard)
    }
    const audio = new ndc.Audio('1', 'SendOnly')
    audio.addOpusCodec(audioType)
    const audioTrack = this.#connection.addTrack(audio, heard)
    await this.#connection.connect((sdp) => withExtensions(sdp, simulcast))
    const clip = await soundClip('opus')
    const sound = { clip, payloadType: audioType, isAac: false, transport: this.#voice(audioTrack) }
    const picture = await this.#picture(false, simulcast ? rids[0] : undefined)
    this.#play({ picture, sound, stray: undefined })
    if (simulcast) this.#play({ picture: await this.#picture(true, rids[1]), sound: undefined, stray: undefined })
  }

  #play(media: PlayedMedia): void {
    const player = new MediaPlayer(media, new ActiveBehaviours({ behaviours: [] }))
    this.#players.push(player)
    player.start(this.#connection.lifetime)
  }

  /** @param rid layer of simulcast; undefined: there are no layers */
  async #picture(isSmall: boolean, rid: string | undefined): Promise<PlayedMedia['picture']> {
    const track = this.#video
    if (track === undefined) return undefined
    const element = rid === undefined ? undefined : { id: ridExtension, content: Buffer.from(rid, 'latin1') }
    const transport: TrackTransport = {
      media: (packet) => {
        if (this.#input.isHidden()) return
        const sent = element === undefined ? packet : withElement(packet, element)
        this.#keep(sent)
        this.#send(track, sent)
      },
      report: (packet) => sendOn(track, packet),
    }
    return { clips: await pictureClips('h264'), isSmall, payloadType: videoType, transport }
  }

  #voice(track: Track): TrackTransport {
    return {
      media: (packet) => {
        const isSilent = packet.length <= headerBytes + silentBytes || !this.#input.isTalking()
        const voice = isSilent ? Buffer.concat([packet.subarray(0, headerBytes), silence]) : packet
        const content = Buffer.from([isSilent ? silentLevel : speech])
        this.#send(track, withElement(voice, { id: levelExtension, content }))
      },
      report: (packet) => sendOn(track, packet),
    }
  }

  #send(track: Track, packet: Buffer): void {
    this.sent += 1
    sendOn(track, packet)
  }

  #keep(packet: Buffer): void {
    this.#kept.set(keyOf(ssrcOf(packet), sequenceOf(packet)), packet)
    if (this.#kept.size <= keptPackets) return
    const [oldest] = this.#kept.keys()
    if (oldest !== undefined) this.#kept.delete(oldest)
  }

  #heard(message: Buffer): void {
    const ignore = (): void => {}
    readFeedback(message, {
      missing: (ssrc, sequence) => {
        const packet = this.#kept.get(keyOf(ssrc, sequence))
        if (packet !== undefined && this.#video !== undefined) sendOn(this.#video, packet)
      },
      keyFrameWanted: () => {
        for (const player of this.#players) player.sendKeyPicture()
      },
      bitrate: ignore,
      block: ignore,
      referenceTime: ignore,
    })
  }
}

function keyOf(ssrc: number, sequence: number): string {
  return `${ssrc}/${sequence}`
}

/** Adds the header extensions, and the layers of simulcast (RFC 8853), to an offer. */
function withExtensions(sdp: string, simulcast: boolean): string {
  const layers = [
    `a=extmap:${ridExtension} ${ridUri}`,
    ...rids.map((rid) => `a=rid:${rid} send`),
    `a=simulcast:send ${rids.join(';')}`,
  ]
  return sdp
    .replace('a=mid:1\r\n', `a=mid:1\r\na=extmap:${levelExtension} ${audioLevelUri}\r\n`)
    .replace('a=mid:0\r\n', simulcast ? `a=mid:0\r\n${layers.join('\r\n')}\r\n` : 'a=mid:0\r\n')
}

/** Returns a packet with one header extension of at most 16 bytes (RFC 8285, section 4.2). */
function withElement(packet: Buffer, { id, content }: { id: number; content: Buffer }): Buffer {
  const words = Math.ceil((1 + content.length) / 4)
  const extension = Buffer.alloc(4 + words * 4)
  extension.writeUInt32BE(oneByteHeads + words, 0)
  extension[4] = (id << 4) | (content.length - 1)
  content.copy(extension, 5)
  const extended = Buffer.concat([packet.subarray(0, headerBytes), extension, packet.subarray(headerBytes)])
  extended[0] = (extended[0] ?? 0) | 0x10
  return extended
}

function sendOn(track: Track, packet: Buffer): void {
  if (track.isOpen()) track.sendMessageBinary(packet)
}
