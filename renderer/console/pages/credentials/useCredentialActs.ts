import { ref, shallowRef } from 'vue'
import { useRouter } from 'vue-router'
import type { CredentialView } from '../../../../shared/console/credentials.ts'
import type { MenuItem } from '../../../kit/menu/menu-items.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useUndo } from '../../composables/useUndo.ts'
import { useText } from '../../i18n/text.ts'
import type { ShownSecret } from './SecretDialog.vue'

/** Actions on a credential. A question explains the consequences first. */
export function useCredentialActs(edit: (credential: CredentialView) => void) {
  const client = useConsole()
  const router = useRouter()
  const { t } = useText()
  const { ask, attempt, copy } = useFeedback()
  const { tellDeleted, keptText } = useUndo()
  const secret = shallowRef<ShownSecret | null>(null)

  function acts(one: CredentialView): MenuItem[] {
    return [
      { key: 'try', text: t('words.tryIt'), icon: 'tester', disabled: !one.enabled },
      { key: 'watch', text: t('clientChecks.watch'), icon: 'lab' },
      { key: 'edit', text: t('words.edit'), icon: 'edit' },
      { key: 'reveal', text: t('credentials.acts.reveal'), icon: 'eye' },
      one.enabled
        ? { key: 'disable', text: t('words.disable'), icon: 'stop', divided: true }
        : { key: 'enable', text: t('words.enable'), icon: 'check', divided: true },
      { key: 'end', text: t('credentials.acts.endSessions'), icon: 'leave', disabled: one.sessions === 0 },
      { key: 'rotate', text: t('credentials.acts.rotate'), icon: 'rotate' },
      { key: 'delete', text: t('words.delete'), icon: 'trash', danger: true, divided: true },
    ]
  }

  const sessionsLost = (one: CredentialView) =>
    one.sessions > 0 ? [t('credentials.ask.loseSessions', { n: one.sessions })] : []

  async function tryIt(one: CredentialView): Promise<void> {
    const made = await attempt(() => client.call('credentials.curl', { access_key: one.access_key }))
    if (made) await copy(made.command)
  }

  async function reveal(one: CredentialView): Promise<void> {
    const yes = await ask({
      title: t('credentials.ask.revealTitle'),
      body: t('credentials.ask.revealBody', { label: one.label }),
      action: t('credentials.acts.reveal'),
      harmless: true,
    })
    if (!yes) return
    const shown = await attempt(() => client.call('credentials.reveal', { access_key: one.access_key }))
    if (shown) secret.value = { why: 'revealed', access_key: one.access_key, secret_key: shown.secret_key }
  }

  async function rotate(one: CredentialView): Promise<void> {
    const opened = await attempt(() =>
      client.call('capabilities.list', { maker: { type: 'credential', id: one.access_key }, limit: 1 }),
    )
    if (!opened) return
    // The links may have been created with a leaked secret.
    const endLinks = ref(opened.total > 0)
    const yes = await ask({
      title: t('credentials.ask.rotateTitle', { label: one.label }),
      body: t('credentials.ask.rotateBody'),
      losses: sessionsLost(one),
      ...(opened.total > 0 && {
        option: { label: t('credentials.ask.endLinks', { n: opened.total }), chosen: endLinks },
      }),
      action: t('credentials.acts.rotate'),
    })
    if (!yes) return
    const made = await attempt(() =>
      client.call('credentials.rotate', { access_key: one.access_key, end_links: endLinks.value }),
    )
    if (made) secret.value = { why: 'rotated', access_key: one.access_key, secret_key: made.secret_key }
  }

  async function enable(one: CredentialView, enabled: boolean): Promise<void> {
    const yes =
      enabled ||
      (await ask({
        title: t('credentials.ask.disableTitle', { label: one.label }),
        body: t('credentials.ask.disableBody'),
        losses: sessionsLost(one),
        action: t('words.disable'),
      }))
    if (!yes) return
    await attempt(
      () => client.call('credentials.update', { access_key: one.access_key, enabled }),
      enabled ? t('credentials.told.enabled') : t('credentials.told.disabled'),
    )
  }

  async function endSessions(one: CredentialView): Promise<void> {
    const yes = await ask({
      title: t('credentials.ask.endTitle', { label: one.label }),
      body: t('credentials.ask.endBody'),
      losses: sessionsLost(one),
      action: t('credentials.acts.endSessions'),
    })
    if (!yes) return
    await attempt(
      () => client.call('credentials.end_sessions', { access_key: one.access_key }),
      ({ ended }) => t('credentials.told.ended', { n: ended }),
    )
  }

  async function remove(one: CredentialView): Promise<void> {
    const yes = await ask({
      title: t('credentials.ask.deleteTitle', { label: one.label }),
      body: `${t('credentials.ask.deleteBody')} ${keptText()}`,
      losses: [
        t('credentials.ask.loseClients'),
        ...sessionsLost(one),
        ...(one.rooms > 0 ? [t('credentials.ask.loseRooms', { n: one.rooms })] : []),
      ],
      action: t('words.delete'),
    })
    if (!yes) return
    const deleted = await attempt(() => client.call('credentials.delete', { access_key: one.access_key }))
    if (deleted) tellDeleted(t('credentials.told.deleted'), 'credentials.restore', deleted.undo)
  }

  function run(key: string, one: CredentialView): void {
    const byKey: Record<string, () => unknown> = {
      try: () => tryIt(one),
      watch: () => router.push(`/clients/${encodeURIComponent(one.access_key)}`),
      edit: () => edit(one),
      reveal: () => reveal(one),
      enable: () => enable(one, true),
      disable: () => enable(one, false),
      end: () => endSessions(one),
      rotate: () => rotate(one),
      delete: () => remove(one),
    }
    byKey[key]?.()
  }

  return { acts, run, secret }
}
