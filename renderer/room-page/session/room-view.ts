import { shallowReactive } from 'vue'
import type { Person, WaitingPerson } from '../../../shared/media/signal.ts'
import type { Ending } from './ending.ts'

/** State of the page. */
export interface RoomView {
  phase: 'lobby' | 'joining' | 'waiting' | 'in' | 'ended'
  /** Before the room: a host who lets one in, or that it opens. */
  waitingFor: 'host' | 'opening'
  /** When it is tried again, milliseconds since the epoch; 0 while it is tried. */
  retryAt: number
  ending: Ending | null
  /** The signalling connection stands. */
  connected: boolean
  /** It does not, and the node said that it will be back. */
  restarting: boolean
  you: Person | null
  roomId: string
  /** Empty while it is not known. */
  topic: string
  /** The room's number is enough to join it. */
  byNumber: boolean
  locked: boolean
  peerToPeer: boolean
  /** People who wait for a host, as a host sees them. */
  guests: readonly WaitingPerson[]
  /** Tiles that are shown at once, at most. */
  maxTiles: number
  unread: number
  /** Whether the chat is in view: then nothing is unread. */
  chatOpen: boolean
}

export function freshView(): RoomView {
  return shallowReactive<RoomView>({
    phase: 'lobby',
    waitingFor: 'host',
    retryAt: 0,
    ending: null,
    connected: false,
    restarting: false,
    you: null,
    roomId: '',
    topic: '',
    byNumber: false,
    locked: false,
    peerToPeer: false,
    guests: [],
    maxTiles: 12,
    unread: 0,
    chatOpen: false,
  })
}
