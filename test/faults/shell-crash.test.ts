import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { isGenuine } from '../e2e/desktop.ts'
import { startAlone } from '../e2e/lone-app.ts'

const root = resolve(import.meta.dirname, '../..')

// Only the stand-in chooses the failing process by an environment variable; relaunching is Electron's own function.
test.skipIf(isGenuine)(
  'an unexpected error in the main process: the app restarts in its previous state; a second one soon after ends it with a message',
  async () => {
    await using app = await startAlone({
      before: ['test/support/fail-on-signal.cjs'],
      env: { FAILING_PROGRAM: root },
    })
    const media = (text: string) => JSON.parse(text) as { pid: number; port: number }
    const first = media(await app.line(/the embedded node runs/))
    await app.answers()
    const seen = app.seen
    process.kill(app.pid, 'SIGUSR2')
    expect(await app.line(/"unexpected error"/)).toContain('fail-on-signal.cjs')
    expect(await app.ended).toEqual([0, null])
    const second = media(await app.line(/the embedded node runs/, seen))
    expect(second.port).toBe(first.port)
    expect(second.pid).not.toBe(first.pid)
    await app.answers()

    const again = app.seen
    const successor = await app.current()
    expect(successor).not.toBe(app.pid)
    process.kill(successor, 'SIGWINCH')
    expect(await app.line(/"unexpected error"/, again)).toContain('a rejection that nobody foresaw')
    expect(await app.line(/^stand-in: Roomdesk: /, again)).toContain('failed repeatedly and will not restart')
    await expect.poll(app.current).toBe(0)
  },
)

test.skipIf(isGenuine || process.platform !== 'linux')(
  'an app that runs from an AppImage comes back, too',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'roomdesk-appimage-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
    const appImage = join(folder, 'Roomdesk.AppImage')
    const script = `#!/bin/sh\nexport APPIMAGE="$0"\nexec '${join(root, 'test/standin/electron')}' "$@"\n`
    await writeFile(appImage, script, { mode: 0o755 })
    await using app = await startAlone({
      before: ['test/support/fail-on-signal.cjs'],
      env: { APPIMAGE: appImage, APPDIR: join(folder, 'mount'), FAILING_PROGRAM: root },
    })
    await app.line(/the embedded node runs/)
    await app.answers()
    process.kill(app.pid, 'SIGUSR2')
    expect(await app.ended).toEqual([0, null])
    await app.answers()
    expect(await app.current()).not.toBe(app.pid)
  },
)
