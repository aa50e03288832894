import { shallowReactive } from 'vue'
import type { StreamSize, StreamSource } from '../../../shared/media/signal.ts'
import type { ConnectionRates } from '../../kit/media/connection-reading.ts'
import type { Quality } from '../../kit/media/quality.ts'

/** A received stream of a user, through the node or directly. */
export class RemoteMedia {
  /** Id of the stream in the room: the user's id, with a suffix for the screen. */
  readonly id: string
  readonly userId: string
  readonly source: StreamSource
  /** The node transcodes the picture, so the first one is delayed. */
  readonly converted: boolean
  video: MediaStreamTrack | null = null
  audio: MediaStreamTrack | null = null
  state: 'connecting' | 'connected' | 'waiting' | 'refused' = 'connecting'
  /** Name of the node's refusal; empty: none. */
  problem = ''
  quality: Quality = 'unknown'
  rates: ConnectionRates | undefined
  /** Part of the stream that the node sends: reduced while this user's link is too slow. */
  sent: StreamSize = 'full'
  /** Size of the received picture; 0 before the first. */
  width = 0
  height = 0
  /** The picture is visible; a hidden one is not sent. */
  seen = true
  /** The level is above the minimum of a speaker. */
  speaking = false

  constructor(id: string, userId: string, source: StreamSource, converted = false) {
    this.id = id
    this.userId = userId
    this.source = source
    this.converted = converted
  }
}

export const remoteMedia = (...values: ConstructorParameters<typeof RemoteMedia>): RemoteMedia =>
  shallowReactive(new RemoteMedia(...values))
