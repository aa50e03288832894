import { menuItems, type MenuItem } from '../../../kit/menu/menu-items.ts'
import { useCaller } from '../../composables/site.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useUndo } from '../../composables/useUndo.ts'
import { useText } from '../../i18n/text.ts'
import type { DeviceView } from '../../../../shared/domain/devices.ts'

/** Actions of the controller on one or several devices. */
export type DeviceAct = 'pause' | 'resume' | 'retry' | 'remove'

/** Minimum number of devices for which the operator has to type the number before removing them. */
const many = 2

/** Actions on devices. A question lists the losses first. */
export function useDeviceActs(open: {
  edit(device: DeviceView): void
  move(devices: readonly DeviceView[]): void
  /** Opens the recording rule of a device. */
  record(device: DeviceView): void
}) {
  const client = useConsole()
  const { may } = useCaller()
  const { t } = useText()
  const { ask, attempt, tell, warnFailed } = useFeedback()
  const { tellDeleted, keptText } = useUndo()

  function acts({ state, roomTopic }: DeviceView): MenuItem[] {
    if (!may('devices.update')) return []
    return menuItems(
      { key: 'retry', text: t('devices.acts.retry'), icon: 'retry', disabled: state !== 'waiting' },
      { key: 'edit', text: t('devices.acts.edit'), icon: 'edit' },
      { key: 'move', text: t('devices.acts.move'), icon: 'arrow' },
      may('recordings.set_rule') && roomTopic !== '' && { key: 'record', text: t('recording.menu'), icon: 'record' },
      state === 'paused'
        ? { key: 'resume', text: t('devices.acts.resume'), icon: 'play' }
        : { key: 'pause', text: t('devices.acts.pause'), icon: 'pause' },
      { key: 'remove', text: t('devices.acts.remove'), icon: 'trash', danger: true, divided: true },
    )
  }

  /** Resolves to whether the action was done. */
  async function act(kind: DeviceAct, devices: readonly DeviceView[]): Promise<boolean> {
    if (devices.length === 0 || !(await agreed(kind, devices))) return false
    const userIds = devices.map((device) => device.userId)
    const answer = await attempt(() => client.call(`devices.${kind}`, { userIds }))
    if (answer === undefined) return false
    const { done } = answer
    if (!warnFailed(answer) && kind !== 'remove') tell(t(`devices.told.${kind}`, { n: done }))
    if (done > 0 && 'undo' in answer) tellDeleted(t('devices.told.remove', { n: done }), 'devices.restore', answer.undo)
    return true
  }

  async function agreed(kind: DeviceAct, devices: readonly DeviceView[]): Promise<boolean> {
    // A pause can be undone, so it needs a question only if it ends a live picture.
    const live = devices.filter((device) => device.state === 'joined')
    if (kind === 'resume' || kind === 'retry' || (kind === 'pause' && live.length === 0)) return true
    const n = devices.length
    const rooms = new Set(live.map((device) => device.roomId)).size
    return ask({
      title: t(`devices.ask.${kind}Title`, { n }),
      body: kind === 'remove' ? `${keptText()} ${t('recording.stays')}` : t('devices.ask.pauseBody', { n }),
      losses: [
        ...(rooms > 0 ? [t('devices.ask.loseMedia', { n: rooms })] : []),
        ...(kind === 'remove' ? [t('devices.ask.loseEntry', { n })] : []),
      ],
      action: t(`devices.acts.${kind}`),
      ...(kind === 'remove' && n >= many ? { typed: n } : {}),
    })
  }

  function run(key: string, device: DeviceView): void {
    if (key === 'edit') open.edit(device)
    else if (key === 'move') open.move([device])
    else if (key === 'record') open.record(device)
    else if (key === 'pause' || key === 'resume' || key === 'retry' || key === 'remove') void act(key, [device])
  }

  return { acts, act, run }
}
