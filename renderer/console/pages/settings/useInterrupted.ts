import { useNodes } from '../../composables/useNodes.ts'
import { useText } from '../../i18n/text.ts'

/** Users and cameras that a restart of the embedded nodes interrupts: one line each, none if there are none. */
export function useInterrupted(): () => string[] {
  const { t } = useText()
  const { value: nodes } = useNodes()
  return () => {
    const embedded = (nodes.value ?? []).filter(({ config }) => config.kind === 'embedded')
    const cameras = embedded.reduce((sum, { devices }) => sum + devices, 0)
    const people = embedded.reduce((sum, { users }) => sum + users, 0) - cameras
    return [
      ...(people > 0 ? [t('settings.network.people', { n: people })] : []),
      ...(cameras > 0 ? [t('settings.network.cameras', { n: cameras })] : []),
    ]
  }
}
