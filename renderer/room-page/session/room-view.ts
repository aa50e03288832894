import { shallowReactive } from 'vue'
import type { Person } from '../../../shared/media/signal.ts'
import type { Ending } from './ending.ts'

/** Where the page stands. */
export interface RoomView {
  phase: 'lobby' | 'joining' | 'in' | 'ended'
  ending: Ending | null
  /** The signalling connection stands. */
  connected: boolean
  /** It does not, and the node said that it will be back. */
  restarting: boolean
  you: Person | null
  roomId: string
  topic: string
  locked: boolean
  peerToPeer: boolean
  /** Tiles that are shown at once, at most. */
  mostTiles: number
  unread: number
  /** Whether the chat is in view: then nothing is unread. */
  chatOpen: boolean
}

export function freshView(): RoomView {
  return shallowReactive<RoomView>({
    phase: 'lobby',
    ending: null,
    connected: false,
    restarting: false,
    you: null,
    roomId: '',
    topic: '',
    locked: false,
    peerToPeer: false,
    mostTiles: 12,
    unread: 0,
    chatOpen: false,
  })
}
