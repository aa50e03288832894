import type { MediaRefusalName, MediaWish } from '../../../shared/media/remote-media.ts'
import type { ControlEvent, ControlParams } from '../../../shared/media/control.ts'
import type { StreamSource } from '../../../shared/media/signal.ts'
import { Problem } from '../base/problem.ts'
import type { IceCredentials } from '../webrtc/stun.ts'
import { Questions } from './questions.ts'

type MediaOutcome = ControlParams<'answer_media'>['outcome']

const messages: Partial<Record<MediaRefusalName, string>> = {
  noSession: 'You are no longer in the room.',
  badOffer: 'The offer was not taken: it may hold no codec that the room knows.',
  busy: 'The server of this room does not answer at the moment. Try again.',
}

/** Asks the controller for remote media. */
export class RemoteRoomMedia {
  readonly #emit: (event: ControlEvent) => void
  readonly #questions = new Questions<MediaOutcome>()
  /** Told when media is over there, by its name. */
  readonly #sessions = new Map<string, () => void>()

  constructor(emit: (event: ControlEvent) => void) {
    this.#emit = emit
  }

  /**
   * A browser sends. Resolves to the answer to its offer.
   * @param over told when it ends there
   * @throws Problem noRoom, noSession, tooManyVideos, badOffer, busy
   */
  publish(
    wish: { roomId: string; userId: string; source: StreamSource; offer: string },
    over: () => void,
  ): Promise<RemoteSession> {
    return this.#way({ act: 'publish', ...wish }, over)
  }

  /**
   * A browser is to be sent a stream. Resolves to what the server offers.
   * @param userId undefined: unseen
   * @param over told when it ends there
   * @throws Problem noRoom, noStream, noSession, busy
   */
  watch(
    wish: { roomId: string; userId: string | undefined; streamId: string; height: number | undefined; small: boolean },
    over: () => void,
  ): Promise<RemoteSession> {
    const { userId, height, ...watched } = wish
    return this.#way({ act: 'watch', ...watched, userId: userId ?? null, height: height ?? null }, over)
  }

  /**
   * A browser sends, or is sent, since before this program had to do with it: that goes on.
   * @param wish `sdp`: the browser's own description
   * @param over told when it ends there
   * @throws Problem noRoom, noSession where it is not so any more, busy
   */
  claim(
    wish: {
      roomId: string
      userId: string
      streamId: string
      sends: boolean
      height: number | undefined
      ticket: string
      sdp: string
    },
    over: () => void,
  ): Promise<RemoteSession> {
    return this.#way({ act: 'claim', ...wish, height: wish.height ?? null }, over)
  }

  /** What the controller says to a wish. Too late an answer changes nothing. */
  answer(id: number, outcome: MediaOutcome): void {
    this.#questions.answer(id, outcome)
  }

  /** Media is over. */
  over(session: string): void {
    const told = this.#sessions.get(session)
    this.#sessions.delete(session)
    told?.()
  }

  async #way(wish: MediaWish, over: () => void): Promise<RemoteSession> {
    const { session, sdp, ticket } = await this.#ask(wish)
    this.#sessions.set(session, over)
    return {
      sdp,
      ticket,
      start: async (answer) => void (await this.#ask({ act: 'start', session, answer })),
      trickle: async (candidates) => void (await this.#ask({ act: 'trickle', session, candidates: [...candidates] })),
      restart: async ({ userFragment, password }) =>
        iceOf((await this.#ask({ act: 'restart', session, userFragment, password })).sdp),
      shown: (height) => this.#emit({ type: 'carriedShown', session, height }),
      end: () => {
        if (this.#sessions.delete(session)) this.#emit({ type: 'carriedEnded', session })
      },
      leave: () => void this.#sessions.delete(session),
    }
  }

  async #ask(wish: MediaWish): Promise<Extract<MediaOutcome, { done: true }>> {
    const late: MediaOutcome = { done: false, refusal: 'busy' }
    const outcome = await this.#questions.ask((id) => this.#emit({ type: 'mediaWanted', id, wish }), late)
    if (outcome.done) return outcome
    throw new Problem(outcome.refusal, messages[outcome.refusal])
  }
}

/** Media between a browser and another node. */
export interface RemoteSession {
  /** The answer to what the browser offered, or the offer that it is to answer. */
  sdp: string
  /** With which it can go on after this program; empty where it cannot. */
  ticket: string
  /** What the browser answers. @throws Problem noSession, badOffer, busy */
  start(answer: string): Promise<void>
  /** Addresses that the browser found later. @throws Problem noSession, busy */
  trickle(candidates: readonly { candidate: string; mid: string }[]): Promise<void>
  /** Its browser begins ICE anew, with these credentials. Resolves to what the other end has in it. @throws Problem noSession, busy */
  restart(credentials: IceCredentials): Promise<{ credentials: IceCredentials; candidates: string[] }>
  /** How high its picture is shown, in device pixels. */
  shown(height: number): void
  /** It is not wanted any more. Idempotent. */
  end(): void
  /** It goes on there, without this program. Nothing ends it here any more. */
  leave(): void
}

/** What a description says of its end of the ICE session: all media goes one way (BUNDLE). */
function iceOf(sdp: string): { credentials: IceCredentials; candidates: string[] } {
  const valueOf = (name: string): string => new RegExp(`^a=${name}:(\\S+)`, 'm').exec(sdp)?.[1] ?? ''
  return {
    credentials: { userFragment: valueOf('ice-ufrag'), password: valueOf('ice-pwd') },
    candidates: Array.from(sdp.matchAll(/^a=(candidate:[^\r\n]+)/gm), ([, candidate = '']) => candidate),
  }
}
