import type { RoomMediaParams } from '../../port/room-media.ts'
import { JanusSession } from '../wire/janus-session.ts'
import type { JanusSocket } from '../wire/janus-socket.ts'
import type { HeldMedia, HeldParticipantSession } from './media-tickets.ts'
import { type JanusTransport, smallTransport, transportOf } from './janus-transports.ts'
import { ParticipantSession, type ParticipantSessionDependencies } from './participant-session.ts'
import { NotThere } from './refusals.ts'
import { isScreen } from './room-feeds.ts'
import type { SmallPictures } from './small-pictures.ts'
import { attachedWith, stillWatches, Subscription, watchedFeed } from './subscription.ts'

/** Resumption of what an earlier controller started on a node: participant sessions, publications and subscriptions. */

/** Height of a video that is shown at an unknown size; above any real height. */
const highest = 20_000
/**
 * Resumes a participant session. Ends the session on failure.
 * @param look reads the streams of the room, which Janus sends only to joining participants
 * @throws JanusError noSession and NotThere if the session has ended; the errors of JanusSession.claim
 */
export async function claimParticipantSession(
  dependencies: ParticipantSessionDependencies,
  held: HeldParticipantSession,
  socket: JanusSocket,
  look: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<ParticipantSession> {
  const session = await JanusSession.claim(socket, held.session, [], signal)
  try {
    const [participantSession] = await Promise.all([
      ParticipantSession.goOn(dependencies, session, held, signal),
      look(signal),
    ])
    return participantSession
  } catch (error) {
    session.drop()
    throw error
  }
}

/** A participant session, and the media of a ticket. */
export interface ClaimedMedia {
  participantSession: ParticipantSession
  media: HeldMedia
  /** Name of the room on the node. */
  room: string
  /** Whether the stream is published in the room now. */
  isPublished: boolean
}

/**
 * Resumes a publication or subscription.
 * @param pictures provides smaller pictures, if the node has them
 * @param over called once when the media ends
 * @throws NotThere, JanusError noHandle if the media has ended; the errors of JanusHandle.request
 */
export async function claimMedia(
  { participantSession, media, room, isPublished }: ClaimedMedia,
  { roomId, streamId: feedId, sends, sdp, height }: RoomMediaParams<'resume'>,
  pictures: Pick<SmallPictures, 'goOn'> | undefined,
  over: () => void,
  signal: AbortSignal,
): Promise<JanusTransport> {
  if (media.feed !== feedId || media.sends !== sends) throw new NotThere('it is of something else')
  if (!isPublished) throw new NotThere('it is published no more')
  if (sends) {
    const publication = participantSession.goOnPublishing(isScreen(feedId) ? 'screen' : 'main', media.handle, sdp, over)
    return transportOf(publication, media.handle)
  }
  const watches = { roomId, feedId }
  if (media.small) {
    const claimed = { owner: participantSession.session, handle: media.handle, answer: sdp }
    const small = await pictures?.goOn({ roomId, userId: feedId }, claimed, over, signal)
    if (small === undefined) throw new NotThere('the small picture is sent no more')
    return { ...smallTransport(small, media.handle), watches }
  }
  const requests = watchedFeed({ ...participantSession.credentials, room, feed: feedId })
  const handle = participantSession.session.adopt(media.handle, requests.plugin)
  const { jsep } = await handle.request(stillWatches, signal)
  if (jsep !== undefined) {
    handle.drop()
    throw new NotThere('it is published by another participant of the same name')
  }
  const subscription = Subscription.goOn(handle, requests, { answer: sdp, watched: attachedWith(media.mid) }, over)
  await subscription.show(height ?? highest, signal)
  return { ...transportOf(subscription, media.handle), watches }
}
