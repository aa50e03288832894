import { shallowReactive } from 'vue'
import type { StreamSize, StreamSource } from '../../../shared/media/signal.ts'
import type { ConnectionRates } from '../../kit/media/connection-reading.ts'
import type { Quality } from '../../kit/media/quality.ts'

/** A received stream of a user, through the node or directly. */
export interface RemoteMedia {
  /** Id of the stream in the room: the user's id, with a suffix for the screen. */
  readonly id: string
  readonly userId: string
  readonly source: StreamSource
  video: MediaStreamTrack | null
  audio: MediaStreamTrack | null
  state: 'connecting' | 'connected' | 'waiting' | 'refused'
  /** Name of the node's refusal; empty: none. */
  problem: string
  /** The node transcodes the picture, so the first one is delayed. */
  readonly converted: boolean
  quality: Quality
  rates: ConnectionRates | undefined
  /** Part of the stream that the node sends: reduced while this user's link is too slow. */
  sent: StreamSize
  /** Size of the received picture; 0 before the first. */
  width: number
  height: number
  /** The picture is visible; a hidden one is not sent. */
  seen: boolean
  /** The level is above the minimum of a speaker. */
  speaking: boolean
}

export function remoteMedia(id: string, userId: string, source: StreamSource, converted = false): RemoteMedia {
  return shallowReactive<RemoteMedia>({
    id,
    userId,
    source,
    video: null,
    audio: null,
    state: 'connecting',
    problem: '',
    converted,
    quality: 'unknown',
    rates: undefined,
    sent: 'full',
    width: 0,
    height: 0,
    seen: true,
    speaking: false,
  })
}
