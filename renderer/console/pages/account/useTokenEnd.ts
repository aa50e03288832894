import type { AccessTokenView } from '../../../../shared/console/accounts.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useText } from '../../i18n/text.ts'
import type { EventEntry } from '../../../../shared/domain/events.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { useFormat } from '../../composables/useFormat.ts'
import { useEventText } from '../events/useEventText.ts'

const maxListed = 100
/** Maximum number of log parts to search; the controller limits the size of each. */
const maxParts = 8

/** Lists the changes of an access token, and asks before revoking it. @param call revokes the token with this id */
export function useTokenEnd(call: (id: string) => Promise<unknown>): (token: AccessTokenView) => Promise<void> {
  const client = useConsole()
  const { t } = useText()
  const { date } = useFormat()
  const { sentence } = useEventText()
  const { ask, attempt } = useFeedback()

  /** Lists changes made with a token, newest first, from the event log. */
  async function changesOf({ id, created_at }: AccessTokenView): Promise<{ title: string; lines: string[] }> {
    const found: EventEntry[] = []
    let before: number | undefined
    for (let part = 0; part < maxParts && before !== 0 && found.length <= maxListed; part++) {
      const { items, next } = await client.call('events.list', {
        text: id,
        from: created_at,
        before,
        limit: maxListed + 1,
      })
      found.push(...items.filter(({ params }) => params.token_id === id))
      before = next
    }
    const lines = found.slice(0, maxListed).map((entry) => `${date(entry.at)}: ${sentence(entry)}`)
    if (before !== 0 || found.length > maxListed)
      return { title: t('accounts.tokens.didMore', { n: lines.length }), lines }
    return { title: lines.length === 0 ? t('accounts.tokens.didNothing') : t('accounts.tokens.did'), lines }
  }

  return async (token) => {
    const { id, label } = token
    const facts = await changesOf(token).catch(() => ({ title: t('accounts.tokens.didUnknown'), lines: [] }))
    const yes = await ask({
      title: t('accounts.tokens.askTitle', { label }),
      body: t('words.noUndo'),
      losses: [t('accounts.tokens.lose')],
      facts,
      action: t('words.revoke'),
    })
    if (yes) await attempt(() => call(id), t('accounts.tokens.revoked'))
  }
}
