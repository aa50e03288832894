import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import packageFile from '../../../../package.json' with { type: 'json' }
import { webRtcLibrary } from '../../../../shared/media/webrtc-library.ts'

const about = 'update shared/media/webrtc-library.ts, docs/develop/rules/nodes.md and docs/operate/security.md'

test('the WebRTC library on the About page is the installed one', () => {
  expect(packageFile.dependencies[webRtcLibrary.name], about).toBe(webRtcLibrary.version)
})

test.skipIf(process.platform !== 'linux' || process.arch !== 'x64')(
  'the OpenSSL on the About page is the one inside the library',
  async () => {
    const folder = createRequire(import.meta.url).resolve('@node-datachannel/linux-x64-gnu/package.json')
    const binary = await readFile(join(folder, '../node_datachannel.node'), 'latin1')
    const found = new Set(
      Array.from(
        binary.matchAll(/OpenSSL (\d+\.\d+\.\d+[a-z]?) {1,2}\d{1,2} [A-Z][a-z]{2} \d{4}/g),
        ([, version]) => version,
      ),
    )
    expect([...found], `node-datachannel ships another OpenSSL: ${about}`).toEqual([webRtcLibrary.openssl])
  },
)
