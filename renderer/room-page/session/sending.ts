import type { OfferExchange } from '../../kit/media/sdp-exchange.ts'
import type { ScreenShare } from '../local/screen-share.ts'
import type { Notices } from './notices.ts'
import { nothing, Publication, type Tracks } from './publication.ts'

/** Maximum bitrate of a browser, in bit/s; the node may request less. */
const cameraPicture = { maxVideoBitrate: 2_500_000, layered: true }
/** Text must stay readable, so smaller layers would be useless. */
const screenPicture = { maxVideoBitrate: 4_000_000, layered: false }

/** Media sent to the node: camera and microphone, and a screen. */
export class Sending {
  readonly #main: Publication
  readonly #screen: Publication

  /** @param whip returns the exchange with the node while the room accepts media; the query names the stream */
  constructor(screen: ScreenShare, notices: Notices, whip: (query: string) => OfferExchange | undefined) {
    this.#main = new Publication(
      () => whip(''),
      cameraPicture,
      (kind) => notices.tell(kind === 'video' ? 'tooManyVideos' : 'tooManyAudios', {}, 'warn'),
    )
    this.#screen = new Publication(
      () => whip('?source=screen'),
      screenPicture,
      (kind) => {
        if (kind === 'audio') return
        screen.stop()
        notices.tell('noScreen', {}, 'warn')
      },
    )
  }

  /** Connection of camera and microphone, for its quality. */
  get connection(): RTCPeerConnection | undefined {
    return this.#main.connection
  }

  /** Ticket with which another node can continue the sessions; empty: none. */
  get ticket(): string {
    return this.#main.ticket || this.#screen.ticket
  }

  /** Moves to another node, which continues the sessions if possible. */
  move(): void {
    void this.#main.move()
    void this.#screen.move()
  }

  send(main: Tracks, screen: Tracks): void {
    this.#main.set(main)
    this.#screen.set(screen)
  }

  /** Starts new sessions, because the node has none of the previous ones. */
  restart(): void {
    this.#main.restart()
    this.#screen.restart()
  }

  stop(): void {
    this.send(nothing, nothing)
  }
}
