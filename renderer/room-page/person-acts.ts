import type { Person } from '../../shared/media/signal.ts'
import { menuItems, type MenuItem } from '../kit/menu/menu-items.ts'
import type { Texts } from './texts/texts.ts'

/** Lists a host's possible actions on this user; empty for a camera. */
export function actsOn({ device, audio, video, hand }: Person, { tile }: Texts): MenuItem[] {
  if (device) return []
  return menuItems(
    hand > 0 && { key: 'lowerHand', text: tile.lowerHand, icon: 'hand' },
    audio && { key: 'mute', text: tile.mute, icon: 'microphoneOff' },
    video && { key: 'stopCamera', text: tile.stopCamera, icon: 'cameraOff' },
    { key: 'remove', text: tile.remove, icon: 'leave', danger: true },
  )
}
