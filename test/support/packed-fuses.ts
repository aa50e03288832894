import { FuseV1Options, getCurrentFuseWire } from '@electron/fuses'

/** Fuses that electron-builder.yml sets. */
const expectedFuses: ReadonlyMap<FuseV1Options, boolean> = new Map([
  [FuseV1Options.RunAsNode, false],
  [FuseV1Options.EnableNodeOptionsEnvironmentVariable, false],
  [FuseV1Options.EnableNodeCliInspectArguments, false],
  [FuseV1Options.GrantFileProtocolExtraPrivileges, false],
  [FuseV1Options.EnableCookieEncryption, true],
  [FuseV1Options.EnableEmbeddedAsarIntegrityValidation, true],
  [FuseV1Options.OnlyLoadAppFromAsar, true],
])

/** Checks the fuses in the executable of a packed app. @throws Error that names the wrong ones */
export async function checkFuses(executable: string): Promise<string> {
  const wire = await getCurrentFuseWire(executable)
  const wrong = [...expectedFuses].filter(([fuse, on]) => String.fromCharCode(Number(wire[fuse])) !== (on ? '1' : '0'))
  if (wrong.length > 0) {
    const names = wrong.map(([fuse, on]) => `${FuseV1Options[fuse]} is not ${on ? 'on' : 'off'}`)
    throw new Error(names.join(', '))
  }
  return `${expectedFuses.size} as electron-builder.yml says`
}
