import { shallowReactive } from 'vue'
import type { StreamSize, StreamSource } from '../../../shared/media/signal.ts'
import type { ConnectionRates } from '../../kit/media/connection-reading.ts'
import type { Quality } from '../../kit/media/quality.ts'

/** Somebody's stream as it arrives here, over the node or straight from the person. */
export interface RemoteMedia {
  /** Id of the stream in the room: the user's id, with a mark for the screen. */
  readonly id: string
  readonly userId: string
  readonly source: StreamSource
  video: MediaStreamTrack | null
  audio: MediaStreamTrack | null
  state: 'connecting' | 'connected' | 'waiting' | 'refused'
  /** Why it was refused, in the node's short name; empty for none. */
  problem: string
  /** Its picture is made playable by the node: the first one takes a moment. */
  readonly converted: boolean
  quality: Quality
  rates: ConnectionRates | undefined
  /** Parts of the picture that the node sends: less than everything while this link is too slow. */
  sent: StreamSize
  /** Size of the picture that arrives; 0 before the first. */
  width: number
  height: number
  /** Its picture is shown somewhere: of one that is not, nothing comes. */
  seen: boolean
  /** A loud enough voice just now. */
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
