import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tarball } from '../../packaging/build/tar.ts'
import { filesBelow } from '../../packaging/build/tree.ts'

const build = join(import.meta.dirname, '../../dist')

test("every file of the build has a name that the server's packages can hold", async () => {
  // Only the names count: the files are empty, and `./` is Debian's.
  const files = filesBelow(build, 'usr/lib/roomdesk/dist').map(({ path }) => ({ path, content: Buffer.alloc(0) }))
  await expect(tarball(files, { time: new Date(0), compression: 0, prefix: './' })).resolves.toBeInstanceOf(Buffer)
})
