import { randomBytes } from 'node:crypto'
import type { StreamSource } from '../../../shared/media/signal.ts'
import { Problem } from '../base/problem.ts'
import type { RemoteSession } from '../rooms/remote-media.ts'
import type { RemoteMedia, Member } from '../rooms/member.ts'
import type { Room } from '../rooms/room.ts'
import { streamIdOf } from '../rooms/room-streams.ts'
import type { RemoteRoomMedia } from '../rooms/remote-media.ts'
import { CandidatePolicy, withPermitted } from '../webrtc/candidate-policy.ts'
import type { Offer } from '../webrtc/offer.ts'
import type { IceCredentials } from '../webrtc/stun.ts'
import type { MediaSession, MediaSessions } from './media-sessions.ts'
import { maxHeight } from './sdp-request.ts'

/** What WHIP and WHEP of remote media work on. */
export interface RemoteSessionParts {
  remoteMedia: RemoteRoomMedia
  sessions: MediaSessions
}

/** A session, and the description that its client is answered with. */
export interface OpenedSession {
  session: MediaSession
  /** Empty where there is nothing to answer. */
  sdp: string
  /** With which it can go on after this program; empty where it cannot. */
  ticket: string
}

/** Publishes to another node. @throws Problem tooManyVideos, tooManyAudios; as RemoteRoomMedia.publish and RemotePart.hold */
export async function publishRemote(
  { remoteMedia, sessions }: RemoteSessionParts,
  room: Room,
  member: Member,
  { source, offer, text, remote }: { source: StreamSource; offer: Offer; text: string; remote: string },
): Promise<OpenedSession> {
  const { roomId } = room.config
  const { userId } = member.user
  const has = (kind: string): boolean =>
    offer.media.some((media) => media.kind === kind && media.direction !== 'inactive')
  room.assertStream(has('video'), has('audio'), streamIdOf(userId, source))
  const open = new OpenMedia(sessions.reserve(remote))
  return await open.take(async () => {
    // What was sent of this source before is over.
    member.remoteMedia.get(publicationName(source))?.end()
    const wish = { roomId, userId, source, offer: withPermitted(text, remote, new CandidatePolicy(remote)) }
    const way = open.add(await remoteMedia.publish(wish, () => open.close()))
    open.onClose(room.remote.hold(member, publicationName(source), open.media(way)))
    room.remote.begins(member, streamIdOf(userId, source))
    return open.session(sessions, way, offer)
  })
}

/**
 * Watches a stream of another node, which makes the offer.
 * @param member undefined: unseen
 * @param wish `height`: how high the picture is going to be shown, in device pixels; `small`: the smaller one will do, where there is one
 * @throws Problem as RemoteRoomMedia.watch and RemotePart.hold
 */
export async function watchRemote(
  { remoteMedia, sessions }: RemoteSessionParts,
  room: Room,
  member: Member | undefined,
  { streamId, height, small, remote }: { streamId: string; height: number | undefined; small: boolean; remote: string },
): Promise<OpenedSession> {
  room.assertPresent(member)
  const open = new OpenMedia(sessions.reserve(remote))
  return await open.take(async () => {
    const shown = height ?? member?.heightOf(streamId)
    const wish = { roomId: room.config.roomId, userId: member?.user.userId, streamId, height: shown, small }
    const way = open.add(await remoteMedia.watch(wish, () => open.close()))
    const show = (now: number): void => way.shown(Math.min(now, maxHeight))
    open.onClose(room.remote.hold(member, watchedName(), { ...open.media(way), streamId, show }))
    const offer = {
      mids: midsOf(way.sdp),
      client: remote,
      candidates: new CandidatePolicy(remote),
      ice: { userFragment: '' },
    }
    return open.session(sessions, way, offer, show)
  })
}

/**
 * What somebody sent, or was sent, through a program or controller before this one goes on as it is.
 * @param wish `streamId`: their own, or the one that they watch; `sends`: which of the two; `sdp`: the browser's description of its end
 * @throws Problem as RemoteRoomMedia.claim and RemotePart.hold
 */
export async function claimRemote(
  { remoteMedia, sessions }: RemoteSessionParts,
  room: Room,
  member: Member,
  wish: { streamId: string; sends: boolean; height: number | undefined; ticket: string; sdp: string; remote: string },
): Promise<OpenedSession> {
  room.assertPresent(member)
  const { remote, height, ...claimed } = wish
  const { streamId, sends, sdp } = claimed
  const { userId } = member.user
  const open = new OpenMedia(sessions.reserve(remote))
  return await open.take(async () => {
    const shown = sends ? undefined : (height ?? member.heightOf(streamId))
    const asked = { roomId: room.config.roomId, userId, height: shown, ...claimed }
    const way = open.add(await remoteMedia.claim(asked, () => open.close()))
    const show = sends ? undefined : (now: number): void => way.shown(Math.min(now, maxHeight))
    const name = sends ? publicationName(streamId === userId ? 'main' : 'screen') : watchedName()
    open.onClose(room.remote.hold(member, name, { ...open.media(way), ...(show && { streamId, show }) }))
    const offer = {
      mids: midsOf(sdp),
      client: remote,
      candidates: new CandidatePolicy(remote),
      ice: { userFragment: userFragmentOf(sdp) },
    }
    return open.session(sessions, way, offer, show)
  })
}

/** One session on its way: what it holds is given back once, whoever ends it. */
class OpenMedia {
  readonly #closers: (() => void)[]
  #closed = false

  constructor(release: () => void) {
    this.#closers = [release]
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    for (const close of this.#closers.splice(0).reverse()) close()
  }

  onClose(close: () => void): void {
    if (this.#closed) close()
    else this.#closers.push(close)
  }

  /** As the room holds it. */
  media(way: RemoteSession): Pick<RemoteMedia, 'end' | 'leave'> {
    return {
      end: () => this.close(),
      leave: () => {
        way.leave()
        this.close()
      },
    }
  }

  add(way: RemoteSession): RemoteSession {
    this.onClose(() => way.end())
    return way
  }

  /** @throws what it throws, after everything was given back; Problem noStream where it ended meanwhile */
  async take<T>(run: () => Promise<T>): Promise<T> {
    try {
      const taken = await run()
      if (this.#closed) throw new Problem('noStream')
      return taken
    } catch (error) {
      this.close()
      throw error
    }
  }

  session(
    sessions: MediaSessions,
    way: RemoteSession,
    offer: Parameters<MediaSessions['add']>[1],
    show?: (height: number) => void,
  ): OpenedSession {
    const peer = {
      close: () => this.close(),
      start: (answer: string) => way.start(withPermitted(answer, offer.client, offer.candidates)),
      restartIce: (credentials: IceCredentials) => way.restart(credentials),
      trickle: (candidates: Parameters<RemoteSession['trickle']>[0]) => way.trickle(candidates),
    }
    const session = sessions.add(peer, offer, show)
    this.onClose(() => sessions.delete(session.id))
    return { session, sdp: way.sdp, ticket: way.ticket }
  }
}

function watchedName(): string {
  return randomBytes(6).toString('base64url')
}

function publicationName(source: StreamSource): string {
  return `sends ${source}`
}

function midsOf(sdp: string): string[] {
  return Array.from(sdp.matchAll(/^a=mid:(\S+)/gm), ([, mid = '']) => mid)
}

/** Names the ICE session of a description; empty for none. */
export function userFragmentOf(sdp: string): string {
  return /^a=ice-ufrag:(\S+)/m.exec(sdp)?.[1] ?? ''
}
