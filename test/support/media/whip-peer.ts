import ndc, { type PeerConnection, type Track } from 'node-datachannel'
import { answeredOffer } from './answered-offer.ts'

/** Stream of a publisher; 0 pictures a second: no video. */
export interface Publishing {
  /** Pictures per second, packets per picture, and bytes per packet. */
  pictures?: number
  packets?: number
  bytes?: number
  /** Share of picture packets that never reach the node, even when requested again. */
  loses?: number
  /** Padding-only packets after each picture. */
  padding?: number
  /** Share of padding packets that never reach the node: a browser keeps none of them for retransmission. */
  losesPadding?: number
  /** Sends sound: a packet every 20 ms. */
  audio?: boolean
  /** Sends the audio level with each packet of sound (RFC 6464). */
  levels?: boolean
  /** Also uses addresses of this machine other than loopback. */
  anyAddress?: boolean
}

/** Payload types and id of the header extension, as in Chromium. */
const videoType = 102
const audioType = 111
const levelId = 1
export const levelUri = 'urn:ietf:params:rtp-hdrext:ssrc-audio-level'
const audioEveryMs = 20
/** Size of padding, as in Chromium. */
const paddingBytes = 224
/** Maximum number of pictures, or packets of sound, sent in one burst. */
const maxAtOnce = 4
/** Silence, in -dBov (RFC 6464, section 3). */
export const silence = 127

/** A WHIP publisher on libdatachannel with empty pictures and sound: a real peer at little cost. Each packet of sound has an audio level. */
export class WhipPeer {
  readonly #connection: PeerConnection
  readonly #video: Track | undefined
  readonly #audio: Track | undefined
  readonly #how: Required<Publishing>
  readonly #timers: NodeJS.Timeout[] = []
  #session = ''
  #keyFrame = true
  #videoSequence = 0
  #audioSequence = 0
  /** Audio level from now on, in -dBov: 0 is the loudest. */
  level = silence
  /** Keyframe requests received. */
  asked = 0
  /** Packets of sound sent. */
  sounds = 0

  private constructor(how: Publishing) {
    this.#how = {
      pictures: 25,
      packets: 2,
      bytes: 800,
      loses: 0,
      padding: 0,
      losesPadding: 0,
      audio: true,
      levels: true,
      anyAddress: false,
      ...how,
    }
    const connection = new ndc.PeerConnection('publisher', {
      iceServers: [],
      ...(this.#how.anyAddress ? {} : { bindAddress: '127.0.0.1' }),
      disableAutoNegotiation: true,
    })
    this.#connection = connection
    if (this.#how.pictures > 0) {
      const video = new ndc.Video('0', 'SendOnly')
      video.addH264Codec(videoType, 'level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f')
      video.addSSRC(1, 'peer', 'peer', 'video')
      this.#video = connection.addTrack(video)
      this.#video.onClosed(() => {})
      this.#video.onMessage((message) => this.#heard(message))
    }
    if (this.#how.audio) {
      const audio = new ndc.Audio('1', 'SendOnly')
      audio.addOpusCodec(audioType)
      audio.addSSRC(2, 'peer', 'peer', 'audio')
      this.#audio = connection.addTrack(audio)
      this.#audio.onClosed(() => {})
      this.#audio.onMessage(() => {})
    }
  }

  /** Publishes, and waits until media flows. @throws Error if the node refuses, or no connection follows */
  static async open(url: string, token: string, how: Publishing = {}): Promise<WhipPeer> {
    const peer = new WhipPeer(how)
    await peer.#connect(async () => {
      peer.#session = await answeredOffer(peer.#connection, url, token, {
        offer: (sdp) => peer.#withLevels(sdp),
      })
    })
    return peer
  }

  /** Like `open`, with another negotiation than WHIP. @throws errors of `negotiate`; Error if no connection follows */
  static async openBy(negotiate: (connection: PeerConnection) => Promise<void>, how: Publishing): Promise<WhipPeer> {
    const peer = new WhipPeer({ ...how, anyAddress: true })
    await peer.#connect(() => negotiate(peer.#connection))
    return peer
  }

  async close(): Promise<void> {
    this.#end()
    if (this.#session !== '') await fetch(this.#session, { method: 'DELETE' })
  }

  async #connect(negotiate: () => Promise<void>): Promise<void> {
    try {
      await negotiate()
      await this.#opened()
    } catch (error) {
      this.#end()
      throw error
    }
  }

  #withLevels(sdp: string): string {
    return this.#how.levels ? sdp.replace('a=mid:1\r\n', `a=mid:1\r\na=extmap:${levelId} ${levelUri}\r\n`) : sdp
  }

  async #opened(): Promise<void> {
    const track = this.#video ?? this.#audio
    const open = Promise.withResolvers<void>()
    const timer = setTimeout(() => open.reject(new Error('no connection came')), 20_000)
    track?.onOpen(() => open.resolve())
    if (track?.isOpen()) open.resolve()
    await open.promise
    clearTimeout(timer)
    if (this.#video !== undefined) this.#repeat(1_000 / this.#how.pictures, () => this.#sendPicture())
    if (this.#audio !== undefined) this.#repeat(audioEveryMs, () => this.#sendSound())
  }

  /** Keeps the rate despite late timers; skips what is much too late, as a camera does, instead of sending a burst. */
  #repeat(everyMs: number, run: () => void): void {
    const began = performance.now()
    let done = 0
    const timer = setInterval(() => {
      const due = Math.ceil((performance.now() - began) / everyMs)
      done = Math.max(done, due - maxAtOnce)
      for (; done < due; done++) run()
    }, everyMs)
    this.#timers.push(timer)
  }

  #sendPicture(): void {
    const timestamp = Math.round(performance.now() * 90)
    const type = this.#keyFrame ? 0x65 : 0x41
    this.#keyFrame = false
    for (let i = 1; i <= this.#how.packets; i++) {
      const packet = Buffer.alloc(this.#how.bytes)
      packet[0] = 0x80
      packet[1] = i === this.#how.packets ? 0x80 | videoType : videoType
      packet.writeUInt16BE((this.#videoSequence += 1) & 0xffff, 2)
      packet.writeUInt32BE(timestamp >>> 0, 4)
      packet.writeUInt32BE(1, 8)
      packet[12] = type
      // Drops packets evenly, so that each run is alike.
      if ((this.#videoSequence * this.#how.loses) % 1 >= this.#how.loses) send(this.#video, packet)
    }
    for (let i = 0; i < this.#how.padding; i++) {
      const packet = Buffer.alloc(12 + paddingBytes)
      packet[0] = 0xa0
      packet[1] = videoType
      packet.writeUInt16BE((this.#videoSequence += 1) & 0xffff, 2)
      packet.writeUInt32BE(timestamp >>> 0, 4)
      packet.writeUInt32BE(1, 8)
      packet[packet.length - 1] = paddingBytes
      if ((this.#videoSequence * this.#how.losesPadding) % 1 >= this.#how.losesPadding) send(this.#video, packet)
    }
  }

  #sendSound(): void {
    const header = this.#how.levels ? 20 : 12
    const packet = Buffer.alloc(header + 60)
    packet[0] = this.#how.levels ? 0x90 : 0x80
    packet[1] = audioType
    packet.writeUInt16BE((this.#audioSequence += 1) & 0xffff, 2)
    packet.writeUInt32BE((this.#audioSequence * 960) >>> 0, 4)
    packet.writeUInt32BE(2, 8)
    if (this.#how.levels) {
      // One element with a one-byte header (RFC 8285, section 4.2): the voice flag and the level.
      packet.writeUInt32BE(0xbede0001, 12)
      packet[16] = levelId << 4
      packet[17] = this.level === silence ? silence : 0x80 | this.level
    }
    this.sounds += 1
    send(this.#audio, packet)
  }

  /** Finds a picture loss indication (RFC 4585, section 6.3.1) anywhere in a compound packet. */
  #heard(message: Buffer): void {
    for (let at = 0; at + 4 <= message.length; at += 4 + message.readUInt16BE(at + 2) * 4) {
      if (message[at + 1] !== 206 || ((message[at] ?? 0) & 0x1f) !== 1) continue
      this.asked += 1
      this.#keyFrame = true
    }
  }

  #end(): void {
    for (const timer of this.#timers) clearInterval(timer)
    this.#video?.close()
    this.#audio?.close()
    this.#connection.close()
  }
}

function send(track: Track | undefined, packet: Buffer): void {
  if (track?.isOpen()) track.sendMessageBinary(packet)
}
