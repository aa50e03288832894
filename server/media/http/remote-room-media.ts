import { randomBytes } from 'node:crypto'
import type { ControllerEnd } from '../../../shared/media/controller-methods.ts'
import {
  MediaRefusal,
  type MediaRefusalName,
  type RoomMedia,
  roomMediaBy,
  type RoomMediaMethod,
  type RoomMediaParams,
  type RoomMediaResult,
} from '../../../shared/media/room-media.ts'
import type { StreamSource } from '../../../shared/media/signal.ts'
import type { RemoteMedia, RoomMember } from '../rooms/member.ts'
import type { Room } from '../rooms/room.ts'
import { answerTimeoutMs } from '../rooms/room-requests.ts'
import { Problem } from '../base/problem.ts'
import { streamIdOf } from '../rooms/room-streams.ts'
import { CandidatePolicy, withPermitted } from '../webrtc/candidates.ts'
import type { Offer } from '../webrtc/offer.ts'
import type { IceCredentials } from '../webrtc/stun.ts'
import type { MediaSessions, SessionPeer } from './media-sessions.ts'
import { maxHeight } from './whip-messages.ts'
import type {
  OpenedMediaSession,
  OpenMedia,
  PublishInput,
  ResumeInput,
  WatchInput,
  WhipWhepMedia,
} from './whip-whep-media.ts'

interface RemoteSession {
  session: string
  /** `end` ends the session on both nodes; `leave` ends it only here, so that another process can resume it. */
  media: Pick<RemoteMedia, 'end' | 'leave'>
  sdp: string
  ticket: string
}

/** Parts of an offer that a session keeps. */
type SessionOffer = Parameters<MediaSessions['add']>[1]

const never = new AbortController().signal

/**
 * Media of rooms on other nodes. Browsers publish to those nodes and watch from them; the controller forwards offers
 * and answers.
 */
export class RemoteRoomMedia implements WhipWhepMedia {
  readonly isRemote = true
  readonly #media: RoomMedia
  readonly #sessions: MediaSessions
  /** Functions called when a session ends on the other node, by session name. */
  readonly #ends = new Map<string, () => void>()

  constructor(controller: Pick<ControllerEnd, 'request'>, sessions: MediaSessions) {
    this.#media = mediaThrough(controller)
    this.#sessions = sessions
  }

  /** Handles the end of a session on the other node. */
  ended(session: string): void {
    const end = this.#ends.get(session)
    this.#ends.delete(session)
    end?.()
  }

  async publish(
    open: OpenMedia,
    { room, member }: { room: Room; member: RoomMember },
    { source, offer, text, remote }: PublishInput,
  ): Promise<OpenedMediaSession> {
    const { roomId } = room.config
    const { userId } = member.user
    room.streams.assertPlace(sends(offer, 'video'), sends(offer, 'audio'), streamIdOf(userId, source))
    // A new publication replaces the earlier publication of this source.
    member.watched.remote.get(publicationName(source))?.end()
    const permitted = withPermitted(text, remote, new CandidatePolicy(remote))
    const opened = await this.#media.publish({ roomId, userId, source, offer: permitted }, never)
    const made = this.#held(open, opened)
    open.onClose(room.remote.hold(member, publicationName(source), made.media))
    room.remote.begins(member, streamIdOf(userId, source))
    return this.#open(open, made, offer)
  }

  /** Checks nothing, because only the other node can check the stream. */
  assertWatchable(): void {}

  async watch(
    open: OpenMedia,
    { room, member }: { room: Room; member: RoomMember | undefined },
    { streamId, height, small, remote }: WatchInput,
  ): Promise<OpenedMediaSession> {
    room.members.assertPresent(member)
    const shown = height ?? member?.watched.heightOf(streamId) ?? null
    const request = { roomId: room.config.roomId, userId: member?.user.userId ?? null, streamId, height: shown, small }
    const made = this.#held(open, await this.#media.watch(request, never))
    const show = this.#resizer(made.session)
    open.onClose(room.remote.hold(member, watchedName(), { ...made.media, streamId, show }))
    const opened = this.#open(open, made, offerOf(made.sdp, remote, ''), show)
    return { ...opened, offers: true }
  }

  async resume(
    open: OpenMedia,
    { room, member }: { room: Room; member: RoomMember },
    { remote, height, ...resumed }: ResumeInput,
  ): Promise<OpenedMediaSession> {
    room.members.assertPresent(member)
    const { streamId, sends: isPublication, sdp } = resumed
    const { userId } = member.user
    const shown = isPublication ? null : (height ?? member.watched.heightOf(streamId) ?? null)
    const request = { roomId: room.config.roomId, userId, height: shown, ...resumed }
    const made = this.#held(open, await this.#media.resume(request, never))
    const show = isPublication ? undefined : this.#resizer(made.session)
    const name = isPublication ? publicationName(streamId === userId ? 'main' : 'screen') : watchedName()
    open.onClose(room.remote.hold(member, name, { ...made.media, ...(show && { streamId, show }) }))
    return this.#open(open, made, offerOf(sdp, remote, userFragmentOf(sdp)), show)
  }

  /** Links a session on the other node to the media opened here, so that they end together. */
  #held(open: OpenMedia, { session, sdp, ticket }: Omit<RemoteSession, 'media'>): RemoteSession {
    this.#ends.set(session, () => open.close())
    const forget = (): boolean => this.#ends.delete(session)
    open.onClose(() => {
      if (forget()) this.#try(this.#media.end({ session }, never))
    })
    const end = (): void => open.close()
    const leave = (): void => {
      forget()
      open.close()
    }
    return { session, sdp, ticket, media: { end, leave } }
  }

  #open(
    open: OpenMedia,
    { session: name, sdp, ticket }: RemoteSession,
    offer: SessionOffer,
    show?: (height: number) => void,
  ): OpenedMediaSession {
    const media = this.#media
    const peer: SessionPeer = {
      close: () => open.close(),
      start: async (answer) => {
        await media.answer({ session: name, answer: withPermitted(answer, offer.client, offer.candidates) }, never)
      },
      restartIce: async (credentials) => iceOf((await media.restart({ session: name, ...credentials }, never)).sdp),
      trickle: async (candidates) => {
        await media.trickle({ session: name, candidates: [...candidates] }, never)
      },
    }
    const session = this.#sessions.add(peer, offer, show)
    open.onClose(() => this.#sessions.delete(session.id))
    return { session, sdp, ticket }
  }

  #resizer(session: string): (height: number) => void {
    return (height) => this.#try(this.#media.resize({ session, height: Math.min(height, maxHeight) }, never))
  }

  /** Runs a request without waiting for its result. */
  #try(call: Promise<unknown>): void {
    // The result is not used; the link logs unexpected errors of the controller.
    call.catch(() => {})
  }
}

const messages: Partial<Record<MediaRefusalName, string>> = {
  noSession: 'You are no longer in the room.',
  badOffer: 'The offer was not taken: it may hold no codec that the room knows.',
  busy: 'The server of this room does not answer at the moment. Try again.',
}

/**
 * Implements `RoomMedia` for rooms on other nodes by requests to the controller. Each method rejects with a Problem:
 * noRoom, noStream, noSession, tooManyVideos, badOffer, busy.
 */
function mediaThrough(controller: Pick<ControllerEnd, 'request'>): RoomMedia {
  return roomMediaBy(async <M extends RoomMediaMethod>(method: M, params: RoomMediaParams<M>) => {
    try {
      const result = await controller.request(method, params, AbortSignal.timeout(answerTimeoutMs))
      // Both types belong to the same declaration, which the compiler cannot derive through the generic.
      return result as RoomMediaResult<M>
    } catch (error) {
      const refusal = error instanceof MediaRefusal ? error.refusal : 'busy'
      throw new Problem(refusal, messages[refusal])
    }
  })
}

function sends(offer: Offer, kind: 'audio' | 'video'): boolean {
  return offer.media.some((media) => media.kind === kind && media.direction !== 'inactive')
}

function offerOf(sdp: string, client: string, userFragment: string): SessionOffer {
  const mids = Array.from(sdp.matchAll(/^a=mid:(\S+)/gm), ([, mid = '']) => mid)
  return { mids, client, candidates: new CandidatePolicy(client), ice: { userFragment } }
}

function watchedName(): string {
  return randomBytes(6).toString('base64url')
}

function publicationName(source: StreamSource): string {
  return `sends ${source}`
}

/** Returns the ICE user fragment of a session description; empty: none. */
export function userFragmentOf(sdp: string): string {
  return /^a=ice-ufrag:(\S+)/m.exec(sdp)?.[1] ?? ''
}

/** Returns the ICE credentials and candidates of a description. All media uses one transport (BUNDLE). */
function iceOf(sdp: string): { credentials: IceCredentials; candidates: string[] } {
  const valueOf = (name: string): string => new RegExp(`^a=${name}:(\\S+)`, 'm').exec(sdp)?.[1] ?? ''
  return {
    credentials: { userFragment: valueOf('ice-ufrag'), password: valueOf('ice-pwd') },
    candidates: Array.from(sdp.matchAll(/^a=(candidate:[^\r\n]+)/gm), ([, candidate = '']) => candidate),
  }
}
