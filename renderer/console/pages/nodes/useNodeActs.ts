import { menuItems, type MenuItem } from '../../../kit/menu/menu-items.ts'
import { useCaller, useNodes } from '../../composables/site.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useUndo } from '../../composables/useUndo.ts'
import { useText } from '../../i18n/text.ts'
import type { NodeView } from '../../../../shared/domain/nodes.ts'

/** Actions on a node. A question lists the affected users first. */
export function useNodeActs(edit: (node: NodeView) => void) {
  const client = useConsole()
  const { may } = useCaller()
  const { t } = useText()
  const { ask, attempt } = useFeedback()
  const { tellDeleted, keptText } = useUndo()
  const { value: nodes } = useNodes()

  function acts({ draining, config }: NodeView): MenuItem[] {
    if (!may('nodes.update')) return []
    return menuItems(
      { key: 'edit', text: t('words.edit'), icon: 'edit' },
      draining && { key: 'undrain', text: t('nodes.acts.undrain'), icon: 'play', divided: true },
      !draining && config.enabled && { key: 'drain', text: t('nodes.acts.drain'), icon: 'drain', divided: true },
      config.enabled
        ? { key: 'disable', text: t('words.disable'), icon: 'stop' }
        : { key: 'enable', text: t('words.enable'), icon: 'check', divided: true },
      { key: 'remove', text: t('words.remove'), icon: 'trash', danger: true, divided: true },
    )
  }

  function losses(node: NodeView): string[] {
    const others = nodes.value?.some((one) => one.state === 'online' && one.config.name !== node.config.name)
    const people = node.users - node.devices
    return [
      ...(people > 0 ? [t(others ? 'nodes.ask.moveUsers' : 'nodes.ask.loseUsers', { n: people })] : []),
      ...(node.rooms > 0 && others ? [t('nodes.ask.loseRooms', { n: node.rooms })] : []),
      ...(node.devices > 0 && others ? [t('nodes.ask.losePulls', { n: node.devices })] : []),
      ...(others ? [] : [t('nodes.ask.loseLast')]),
    ]
  }

  async function disable(node: NodeView): Promise<void> {
    const { name } = node.config
    const yes = await ask({
      title: t('nodes.ask.disableTitle', { name }),
      body: t('nodes.ask.disableBody'),
      losses: losses(node),
      action: t('words.disable'),
    })
    if (yes) await attempt(() => client.call('nodes.disable', { name }), t('nodes.told.disabled', { name }))
  }

  async function drain(node: NodeView): Promise<void> {
    const { name } = node.config
    const yes = await ask({
      title: t('nodes.ask.drainTitle', { name }),
      body: t('nodes.ask.drainBody'),
      action: t('nodes.acts.drain'),
      harmless: true,
    })
    if (yes) await attempt(() => client.call('nodes.drain', { name }), t('nodes.told.draining', { name }))
  }

  async function remove(node: NodeView): Promise<void> {
    const { name } = node.config
    const yes = await ask({
      title: t('nodes.ask.removeTitle', { name }),
      body: keptText(),
      losses: losses(node),
      action: t('words.remove'),
    })
    const removed = yes ? await attempt(() => client.call('nodes.remove', { name })) : undefined
    if (removed) tellDeleted(t('nodes.told.removed', { name }), 'nodes.restore', removed.undo)
  }

  function run(key: string, node: NodeView): void {
    const { name } = node.config
    const byKey: Record<string, () => unknown> = {
      edit: () => edit(node),
      enable: () => attempt(() => client.call('nodes.enable', { name }), t('nodes.told.enabled', { name })),
      undrain: () => attempt(() => client.call('nodes.undrain', { name }), t('nodes.told.undrained', { name })),
      disable: () => disable(node),
      drain: () => drain(node),
      remove: () => remove(node),
    }
    byKey[key]?.()
  }

  return { acts, run }
}
