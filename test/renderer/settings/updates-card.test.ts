import { expect, onTestFinished, test } from 'vitest'
import { h } from 'vue'
import ConfirmHost from '../../../renderer/console/components/ConfirmHost.vue'
import UpdatesCard from '../../../renderer/console/pages/settings/UpdatesCard.vue'
import type { UpdatesView } from '../../../shared/app-contract.ts'
import { operator, pageText, press, says, show } from '../devices/operator-page.ts'

/** Updates of an app for all users of a Windows machine, with a fetched release. */
const fetched: UpdatesView = {
  ...{ source: 'https://files.example.com', install: 'quiet', hour: null, way: 'elevated', version: '0.2.0' },
  ...{ state: 'idle', checked_at: 1, received: 5, installs_at: 0, command: '', problem: null },
  release: { version: '0.3.0', notes: 'Faster walls.', size: 5 },
  file: String.raw`C:\Users\ann\Roomdesk Setup 0.3.0.exe`,
}

/** Shows the card in an app with these updates. @returns the names of the calls that the card made */
async function showCard(view: UpdatesView): Promise<string[]> {
  const calls: string[] = []
  const callApp = async (name: string) => (calls.push(name), { ok: true, value: view })
  Object.assign(window, { roomdesk: { callApp, onAppChange: () => () => undefined } })
  onTestFinished(() => void delete window.roomdesk)
  show(() => [h(UpdatesCard), h(ConfirmHost)], await operator())
  return calls
}

test('An update without permission can be retried, or its file shown', async () => {
  const calls = await showCard({ ...fetched, problem: { name: 'installerEnded', detail: '2' } })
  await says('The installer ended without installing anything (exit code 2).')
  await press('Show the file')
  await press('Try again')
  await says('Install 0.3.0 now?')
  document.querySelector<HTMLElement>('[data-confirm]')?.click()
  await expect.poll(() => calls).toEqual(['updates.get', 'updates.show', 'updates.install'])
})

test('If Windows asks for an administrator, automatic installation is not offered', async () => {
  await showCard(fetched)
  await says('Windows asks for administrator permission')
  await says('Install and restart')
  expect(pageText()).not.toContain('By itself, once nobody has been in a room')
})

test('A failed check is not reported as a failed installation', async () => {
  await showCard({ ...fetched, problem: { name: 'otherKey', detail: 'latest.yml' } })
  await says('latest.yml was signed with a key that this app does not know')
  await says('Install and restart')
})

test('A build without a key has no buttons', async () => {
  await showCard({ ...fetched, release: null, file: '', problem: { name: 'noKey', detail: '' } })
  await says('This build takes no updates')
  for (const text of ['Address or folder', 'Check now', 'Install and restart']) expect(pageText()).not.toContain(text)
})
