import { useFormat } from '../../composables/useFormat.ts'
import { useText } from '../../i18n/text.ts'
import type { DeviceView } from '../../../../shared/domain/devices.ts'

/** Texts about a device, in the operator's language. */
export function useDeviceText() {
  const { t } = useText()
  const { within } = useFormat()

  /** Returns why a device is not in its room, in one line without the delay; empty if it is in its room. */
  function trouble({ last_error, state }: DeviceView): string {
    return last_error === null || state === 'joined' || state === 'paused' ? '' : t(`devices.short.${last_error.kind}`)
  }

  /** Returns "next in 12 s" or "trying now"; empty for a device that is joined or paused. */
  function nextTry({ state, last_error, next_attempt_at }: DeviceView, now: number): string {
    if (state === 'joining') return last_error === null ? '' : t('devices.trouble.now')
    if (state !== 'waiting' || last_error === null) return ''
    // A login that was rejected too often is not retried automatically, because devices lock accounts.
    if (next_attempt_at === 0)
      return t(last_error.kind === 'auth' ? 'devices.trouble.heldLogin' : 'devices.trouble.held')
    // Rounded up, because a countdown at 0 s looks stuck.
    const left = Math.max(1_000, Math.ceil((next_attempt_at - now) / 1_000) * 1_000)
    return t('devices.trouble.next', { when: within(left) })
  }

  return { trouble, nextTry }
}
