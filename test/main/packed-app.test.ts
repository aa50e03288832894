import { expect, test } from 'vitest'
import { packedApp } from '../support/packed-app.ts'

test.each([
  ['linux', 'x64', 'linux-unpacked/roomdesk', 'linux-unpacked/resources'],
  ['linux', 'arm64', 'linux-arm64-unpacked/roomdesk', 'linux-arm64-unpacked/resources'],
  ['win32', 'x64', 'win-unpacked/Roomdesk.exe', 'win-unpacked/resources'],
  ['darwin', 'x64', 'mac/Roomdesk.app/Contents/MacOS/Roomdesk', 'mac/Roomdesk.app/Contents/Resources'],
  ['darwin', 'arm64', 'mac-arm64/Roomdesk.app/Contents/MacOS/Roomdesk', 'mac-arm64/Roomdesk.app/Contents/Resources'],
] as const)(
  'on %s %s the packed app is found where electron-builder writes it',
  (platform, arch, executable, resources) => {
    const packed = packedApp('/out', platform, arch)
    expect([packed.executable, packed.resources].map((path) => path.replaceAll('\\', '/'))).toEqual([
      `/out/${executable}`,
      `/out/${resources}`,
    ])
    expect(packed.target).toContain(`--${arch}`)
  },
)
