import type { Person } from '../../shared/media/signal.ts'
import type { IconName } from './icons.ts'
import type { Texts } from './texts/languages.ts'

/** Actions of a host on one user. */
export type PersonAct = 'mute' | 'stopCamera' | 'lowerHand' | 'remove'

/** Lists the possible actions on this user; none on a camera. */
export function actsOn(
  { device, audio, video, hand }: Person,
  { tile }: Texts,
): { id: PersonAct; label: string; icon: IconName; danger?: boolean }[] {
  if (device) return []
  return [
    ...(hand > 0 ? [{ id: 'lowerHand' as const, label: tile.lowerHand, icon: 'hand' as const }] : []),
    ...(audio ? [{ id: 'mute' as const, label: tile.mute, icon: 'microphoneOff' as const }] : []),
    ...(video ? [{ id: 'stopCamera' as const, label: tile.stopCamera, icon: 'cameraOff' as const }] : []),
    { id: 'remove', label: tile.remove, icon: 'leave', danger: true },
  ]
}

export function isPersonAct(id: string): id is PersonAct {
  return id === 'mute' || id === 'stopCamera' || id === 'lowerHand' || id === 'remove'
}
