import type { Person } from '../../shared/media/signal.ts'
import type { IconName } from '../kit/icons/icons.ts'
import type { Texts } from './texts/languages.ts'

/** Actions of a host on one user. */
export type PersonAct = 'mute' | 'stopCamera' | 'lowerHand' | 'remove'

/** Lists the possible actions on this user; empty for a camera. */
export function actsOn(
  { device, audio, video, hand }: Person,
  { tile }: Texts,
): { key: PersonAct; text: string; icon: IconName; danger?: boolean }[] {
  if (device) return []
  return [
    ...(hand > 0 ? [{ key: 'lowerHand' as const, text: tile.lowerHand, icon: 'hand' as const }] : []),
    ...(audio ? [{ key: 'mute' as const, text: tile.mute, icon: 'microphoneOff' as const }] : []),
    ...(video ? [{ key: 'stopCamera' as const, text: tile.stopCamera, icon: 'cameraOff' as const }] : []),
    { key: 'remove', text: tile.remove, icon: 'leave', danger: true },
  ]
}

export function isPersonAct(id: string): id is PersonAct {
  return id === 'mute' || id === 'stopCamera' || id === 'lowerHand' || id === 'remove'
}
