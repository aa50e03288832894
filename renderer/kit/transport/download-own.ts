import { z } from '../zod.ts'
import { fetchOwn } from './page-half.ts'
import { CallError } from './transport.ts'

const issued = z.object({ url: z.string() })

/**
 * Downloads a file from the console's own port. The browser's request lacks the page's half of the session secret, so
 * the address carries a ticket for this path; the desktop app needs none.
 * @throws CallError if no ticket is issued
 */
export async function downloadOwn(path: string, name: string): Promise<void> {
  const link = document.createElement('a')
  link.href = window.roomdesk === undefined ? await ticketed(path) : path
  link.download = name
  link.click()
}

async function ticketed(path: string): Promise<string> {
  const answer = await fetchOwn('/tickets', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ path }),
  }).catch(() => undefined)
  if (answer?.ok !== true) throw new CallError('offline', 'The controller issued no ticket for the download.')
  return issued.parse(await answer.json()).url
}
