import type { OfferExchange } from '../../kit/media/sdp-exchange.ts'
import type { ScreenShare } from '../local/screen-share.ts'
import type { Notices } from './notices.ts'
import { Publication } from './publication.ts'

/** Limit of what a browser sends, in bits per second; the node may ask for less. */
const cameraPicture = { maxVideoBitrate: 2_500_000, layered: true }
/** Text has to be read: a smaller size of it is of no use. */
const screenPicture = { maxVideoBitrate: 4_000_000, layered: false }

/** Media of this person. */
export interface Sent {
  audio: MediaStreamTrack | null
  video: MediaStreamTrack | null
}

/** Media from here to the node: camera and microphone, and a screen. */
export class Sending {
  readonly #main: Publication
  readonly #screen: Publication

  /** @param whip the way to the node while one is in a room that takes it; the query names what is sent */
  constructor(screen: ScreenShare, notices: Notices, whip: (query: string) => OfferExchange | undefined) {
    this.#main = new Publication(() => whip(''), cameraPicture, {
      live: () => {},
      refusedKind: (kind) => notices.tell(kind === 'video' ? 'tooManyVideos' : 'tooManyAudios', {}, 'warn'),
    })
    this.#screen = new Publication(() => whip('?source=screen'), screenPicture, {
      live: () => {},
      refusedKind: (kind) => {
        if (kind === 'audio') return
        screen.stop()
        notices.tell('noScreen', {}, 'warn')
      },
    })
  }

  /** Connection of camera and microphone, for its quality. */
  get connection(): RTCPeerConnection | undefined {
    return this.#main.connection
  }

  /** With which another node can go on with it; empty where none can. */
  get ticket(): string {
    return this.#main.ticket || this.#screen.ticket
  }

  /** Another node has the room: it goes on with what it can. */
  move(): void {
    void this.#main.move()
    void this.#screen.move()
  }

  send(main: Sent, screen: Sent): void {
    this.#main.set(main)
    this.#screen.set(screen)
  }

  /** The node knows nothing of what was sent before. */
  restart(): void {
    this.#main.restart()
    this.#screen.restart()
  }

  stop(): void {
    const nothing = { audio: null, video: null }
    this.send(nothing, nothing)
  }
}
