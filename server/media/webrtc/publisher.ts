import type { Track } from 'node-datachannel'
import { type AudioFormat, Feed, type VideoFormat } from '../feeds/feed.ts'
import { Problem } from '../problem.ts'
import { isRtcp, isRtp } from '../rtp/packet.ts'
import { Reception } from '../rtp/reception.ts'
import { clockPointOf, estimatedBitrate, negativeAcknowledgement, pictureLoss, receiverReport } from '../rtp/rtcp.ts'
import { BitrateEstimate } from './bitrate-estimate.ts'
import { type Offer, type OfferedCodec, type OfferedMedia, publishedAudio, publishedVideo } from './offer.ts'
import { Peer, type PeerSettings } from './peer.ts'
import { carryingSection, silentSection } from './sections.ts'

/** At most one request for a key frame in so many milliseconds. */
const keyFrameEveryMs = 300
const repeatEveryMs = 20
const reportEveryMs = 1_000
/** A publisher that has sent nothing for so long is gone, unless something else tells that it is there. */
const stallMs = 10_000

interface Incoming {
  kind: 'video' | 'audio'
  track: Track
  reception: Reception
}

/** One browser that publishes (WHIP). */
export class Publisher {
  readonly peer: Peer
  readonly feed: Feed
  readonly #sections = new Map<OfferedMedia, { codec: OfferedCodec; format: VideoFormat | AudioFormat }>()
  readonly #estimate: BitrateEstimate
  #video: Incoming | undefined
  #audio: Incoming | undefined
  #repeating = false
  #keyFrameDue = false
  #keyFrameAskedAt = 0
  readonly #mayStall: () => boolean
  /** 0: never yet. */
  #heardAt = 0

  /**
   * @param mostBitsPerSecond what the browser is told it may send
   * @param mayStall whether the person is known to be there, so that a pause is no end
   * @param onClosed told once when it ends, for whatever reason
   * @throws Problem codec when nothing of the offer can be taken, busy
   */
  constructor(
    offer: Offer,
    settings: PeerSettings,
    mostBitsPerSecond: number,
    mayStall: () => boolean,
    onClosed: () => void,
  ) {
    this.#mayStall = mayStall
    const video = this.#choose(offer, 'video')
    const audio = this.#choose(offer, 'audio')
    if (video === undefined && audio === undefined) {
      throw new Problem('codec', 'The offer has no video in VP8 or H.264 and no audio in Opus or G.711.')
    }
    this.#estimate = new BitrateEstimate(mostBitsPerSecond)
    this.feed = new Feed({
      video: video !== undefined && 'profileLevelId' in video ? video : undefined,
      audio: audio !== undefined && 'clockRate' in audio ? audio : undefined,
      cached: false,
      requestKeyFrame: () => this.#requestKeyFrame(),
    })
    this.peer = new Peer('publisher', settings, () => {
      this.feed.end()
      onClosed()
    })
    this.peer.onMoved = () => this.#requestKeyFrame()
  }

  /** @throws Problem badOffer */
  async answer(offer: Offer): Promise<string> {
    for (const media of offer.media) this.#addSection(media)
    this.peer.lifetime.every(reportEveryMs, () => this.#report())
    return await this.peer.answer(offer)
  }

  close(): void {
    this.peer.close()
  }

  #choose(offer: Offer, kind: OfferedMedia['kind']): VideoFormat | AudioFormat | undefined {
    for (const media of offer.media) {
      if (media.kind !== kind || media.direction === 'recvonly' || media.direction === 'inactive') continue
      const chosen = kind === 'video' ? publishedVideo(media) : publishedAudio(media)
      if (chosen === undefined) continue
      this.#sections.set(media, chosen)
      return chosen.format
    }
    return undefined
  }

  #addSection(media: OfferedMedia): void {
    const chosen = this.#sections.get(media)
    if (chosen === undefined) {
      this.peer.addTrack(silentSection(media), () => {})
      return
    }
    const clockRate = 'clockRate' in chosen.format ? chosen.format.clockRate : 90_000
    const reception = new Reception(clockRate)
    // No handler on the track: the node reads RTP and RTCP itself.
    const track = this.peer.addTrack(carryingSection(media, chosen.codec, 'RecvOnly'), (message) =>
      this.#received(incoming, message),
    )
    const incoming: Incoming = { kind: media.kind, track, reception }
    if (media.kind === 'video') this.#video = incoming
    else this.#audio = incoming
  }

  #received(incoming: Incoming, message: Buffer): void {
    const now = Date.now()
    this.#heardAt = now
    const { kind, reception } = incoming
    if (isRtcp(message)) {
      const point = clockPointOf(message)
      if (point === undefined) return
      reception.reported(point, now)
      this.feed.noteClock(kind, point)
      return
    }
    if (!isRtp(message) || !reception.received(message, now)) return
    if (kind === 'video') {
      this.feed.pushVideo(message)
      if (reception.incomplete && !this.#repeating) this.#repeatSoon()
    } else {
      this.feed.pushAudio(message)
    }
  }

  #repeatSoon(): void {
    this.#repeating = true
    this.peer.lifetime.after(repeatEveryMs, () => this.#repeat())
  }

  /** Asks again for what is missing, until nothing is. */
  #repeat(): void {
    this.#repeating = false
    const { reception, track } = this.#video ?? {}
    if (reception === undefined || track === undefined) return
    const sequences = reception.toRequest(Date.now())
    if (sequences.length > 0) send(track, negativeAcknowledgement(reception.ssrc, sequences))
    if (reception.incomplete) this.#repeatSoon()
  }

  #report(): void {
    const now = Date.now()
    if (this.#heardAt !== 0 && now - this.#heardAt > stallMs && !this.#mayStall()) return this.close()
    for (const incoming of [this.#video, this.#audio]) {
      if (incoming === undefined || incoming.reception.ssrc === 0) continue
      const block = incoming.reception.block(now)
      send(incoming.track, receiverReport(block))
      if (incoming.kind === 'video') {
        send(incoming.track, estimatedBitrate(block.ssrc, this.#estimate.after(block.fractionLost / 256)))
      }
    }
  }

  #requestKeyFrame(): void {
    const wait = this.#keyFrameAskedAt + keyFrameEveryMs - Date.now()
    if (wait > 0) {
      if (this.#keyFrameDue) return
      this.#keyFrameDue = true
      this.peer.lifetime.after(wait, () => {
        this.#keyFrameDue = false
        this.#requestKeyFrame()
      })
      return
    }
    const { track, reception } = this.#video ?? {}
    if (track === undefined || reception === undefined || reception.ssrc === 0) return
    this.#keyFrameAskedAt = Date.now()
    send(track, pictureLoss(reception.ssrc))
  }
}

function send(track: Track, packet: Buffer): void {
  try {
    if (track.isOpen()) track.sendMessageBinary(packet)
  } catch {
    // It closed meanwhile; whoever closes it is told by the peer.
  }
}
