import type { CameraSource } from '../../shared/device-address.ts'
import type { ControlParams, ControlResult } from '../../shared/media/control.ts'
import type { ConnectionStats, StreamStats } from '../../shared/media/stream-stats.ts'
import { sleep } from '../../shared/sleep.ts'
import type { CameraPulls } from './feeds/camera-pulls.ts'
import type { KeyPicture } from './feeds/feed-tracks.ts'
import type { Feed, FeedConversion } from './feeds/feed.ts'
import { newestKeyPicture } from './feeds/key-picture.ts'
import type { Room } from './rooms/room.ts'
import { RtspError } from './rtsp/rtsp-error.ts'

/** Reports of a running node to the controller: streams, connections, and cameras. */

export function streamStats(room: Room): StreamStats[] {
  return Array.from(room.streams.values(), ({ view, feed }) => ({
    room_id: room.config.roomId,
    stream_id: view.stream_id,
    user_id: view.user_id,
    video_codec: view.video_codec,
    audio_codec: view.audio_codec,
    counted: true,
    video_bytes: feed.counts.videoBytes,
    audio_bytes: feed.counts.audioBytes,
    frames: feed.counts.frames,
    key_frames: feed.counts.keyFrames,
    last_key_frame_at: feed.counts.lastKeyFrameAt,
    last_packet_at: feed.counts.lastPacketAt,
    viewers: feed.watchers,
    b_frames: feed.playback.bFrames && feed.playback.conversion?.from === '',
    conversion: conversionOf(feed.playback.conversion),
    shortcomings: [...feed.playback.shortcomings],
  }))
}

function conversionOf(conversion: FeedConversion | undefined): StreamStats['conversion'] {
  if (conversion === undefined || conversion.from === '') return null
  const { from, state, problem } = conversion
  return { from, state, problem }
}

export function connectionStats(room: Room): ConnectionStats[] {
  const speaking = new Set(room.speakers.speaking)
  return Array.from(room.members.values())
    .filter(({ device }) => device === undefined)
    .map((member) => ({
      room_id: room.config.roomId,
      user_id: member.user.userId,
      signal: member.signalling.link !== undefined,
      speaking: speaking.has(member.user.userId),
      audio: member.live.audio,
      video: member.live.video,
      peers: [
        ...Array.from(member.publications, ([source, { peer }]) => ({
          purpose: 'publish' as const,
          stream_id: source,
          state: peer.state,
          // Unknown: only the sender of a stream can measure its round trip.
          round_trip_ms: -1,
        })),
        ...Array.from(member.watched.viewers, ([{ peer, roundTrip }, streamId]) => ({
          purpose: 'view' as const,
          stream_id: streamId,
          state: peer.state,
          round_trip_ms: roundTrip,
        })),
      ],
    }))
}

/** Returns the quality measurements of a feed's camera; `quality` is null for a feed without a camera. */
export function qualityOf(pulls: CameraPulls, feed: Feed | undefined): ControlResult<'camera_quality'> {
  const meter = feed && pulls.meters.of(feed)
  return { quality: meter === undefined ? null : { now: meter.now ?? null, minutes: [...meter.minutes] } }
}

/** Returns the clock offsets of the cameras in these rooms, without cameras whose offset is unknown. */
export function clocksOf(pulls: CameraPulls, rooms: Iterable<Pick<Room, 'streams'>>): ControlResult<'camera_clocks'> {
  const streams = Array.from(rooms, (room) => [...room.streams.values()]).flat()
  const clocks = streams.flatMap(({ view, feed }) => {
    const ahead_ms = pulls.meters.of(feed)?.clockAhead
    return ahead_ms === undefined ? [] : [{ streamId: view.stream_id, ahead_ms }]
  })
  return { clocks }
}

/** Returns a picture of a camera, or the reason why it is missing. @throws the signal's abort reason */
export async function stillAnswer(
  pulls: CameraPulls,
  camera: ControlParams<'camera_still'>,
  signal: AbortSignal,
): Promise<ControlResult<'camera_still'>> {
  try {
    const picture = await stillOf(pulls, { login: undefined, ...camera }, signal)
    if (picture === undefined) return { picture: null, missing: 'codec' }
    return { picture: { ...picture, frame: picture.frame.toString('base64') }, missing: null }
  } catch (error) {
    if (!(error instanceof RtspError)) throw error
    return { picture: null, missing: 'failed' }
  }
}

/** Interval of checks for a whole key frame, in milliseconds. */
const lookMs = 100

/**
 * Returns a picture of a camera, in a room or not. Pulls the camera until a key frame has arrived. An existing pull is
 * shared.
 * @returns undefined if the camera's pictures can be neither shown nor converted on this machine
 * @throws RtspError; the signal's reason
 */
async function stillOf(pulls: CameraPulls, camera: CameraSource, signal: AbortSignal): Promise<KeyPicture | undefined> {
  const ended = new AbortController()
  const either = AbortSignal.any([signal, ended.signal])
  const lease = await pulls.acquire(camera, signal, (error) => ended.abort(error))
  try {
    const { feed } = lease
    for (;;) {
      const { video, playback } = feed
      if (video === undefined) throw new RtspError('noUsableTrack', 'it sends no video')
      const converted = playback.conversion?.from !== '' && playback.conversion?.pictures === true
      if (video.codec !== 'H264' && !converted) return undefined
      const picture = await newestKeyPicture(feed, either)
      if (picture !== undefined) return picture
      await sleep(lookMs, { signal: either })
    }
  } catch (error) {
    throw ended.signal.aborted ? ended.signal.reason : error
  } finally {
    lease.release()
  }
}
