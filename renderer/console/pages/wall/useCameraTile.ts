import { computed, type ComputedRef } from 'vue'
import { useDevices } from '../../composables/site.ts'
import { useNow } from '../../../kit/composables/useNow.ts'
import { useText } from '../../i18n/text.ts'
import { useDeviceText } from '../devices/deviceText.ts'
import type { TileContent } from './tile-content.ts'

/** Content of a camera's tile: the camera, or the reason why it is not shown, in the words of the device list. */
export function useCameraTile(userId: () => string): ComputedRef<TileContent> {
  const { t } = useText()
  const { trouble, nextTry } = useDeviceText()
  const { byId, value } = useDevices()
  const now = useNow()
  // Separate from the countdown, so that a tile with a picture computes nothing each second.
  const still = computed(() => {
    const device = byId.value.get(userId())
    const page = `/devices/${encodeURIComponent(userId())}`
    const content = {
      title: userId(),
      person: '',
      room: '',
      source: undefined,
      reason: '',
      since: 0,
      next: '',
      gone: false,
      page,
    }
    if (device === undefined) {
      const known = value.value !== undefined
      return { ...content, reason: known ? t('wall.noCamera') : '', gone: known }
    }
    const { roomId, roomTopic: room, userName: title, state, since } = device
    if (state === 'joined') return { ...content, title, room, source: { roomId, streamId: device.userId } }
    return { ...content, title, room, reason: trouble(device) || t(`devices.states.${state}`), since }
  })
  return computed(() => {
    const device = byId.value.get(userId())
    if (device === undefined || device.state === 'joined') return still.value
    return { ...still.value, next: nextTry(device, now.value) }
  })
}
