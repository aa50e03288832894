import { createHash } from 'node:crypto'
import type { ServiceStep } from './service-plan.ts'

/** Security identifiers of Windows (MS-DTYP, section 2.4.2.4): the system, and the group of administrators. */
const systemId = 'S-1-5-18'
const administratorsId = 'S-1-5-32-544'
/** Owned by administrators, inherits nothing, open to the system and administrators alone (MS-DTYP, section 2.5.1). */
const descriptor = 'O:BAG:BAD:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)'

/** Identifier of the virtual account of a service: SHA-1 of its name in upper case, in UTF-16. */
export function serviceId(name: string): string {
  const hash = createHash('sha1').update(Buffer.from(name.toUpperCase(), 'utf16le')).digest()
  return ['S-1-5-80', ...[0, 4, 8, 12, 16].map((at) => hash.readUInt32LE(at))].join('-')
}

/**
 * Plans the making of folders that nobody but administrators owns. Every user may make folders in `%ProgramData%`: one that somebody made in advance, with programs or keys in it, is
 * refused before anything is written there. A folder that is there already, and the files directly in it, must belong to the system, administrators, the service or whoever installs it.
 * @param powershell path of Windows PowerShell @param service name of the service
 */
export function securedFolders(powershell: string, folders: readonly string[], service: string): ServiceStep {
  const script = [
    "$ErrorActionPreference = 'Stop'",
    `$folders = @(${folders.map(quoted).join(', ')})`,
    `$owners = @(${[systemId, administratorsId, serviceId(service)].map(quoted).join(', ')})`,
    '$owners += [Security.Principal.WindowsIdentity]::GetCurrent().User.Value',
    '$security = New-Object Security.AccessControl.DirectorySecurity',
    `$security.SetSecurityDescriptorSddlForm(${quoted(descriptor)})`,
    'function Assert-Own($item) {',
    "  if ($item.Attributes -band [IO.FileAttributes]::ReparsePoint) { throw ($item.FullName + ' is a link.') }",
    '  $owner = $item.GetAccessControl().GetOwner([Security.Principal.SecurityIdentifier]).Value',
    "  if ($owners -notcontains $owner) { throw ($item.FullName + ' belongs to another user (' + $owner + ').') }",
    '}',
    'foreach ($folder in $folders) {',
    // The folder never exists with other rights, not even for a moment.
    '  [void][IO.Directory]::CreateDirectory($folder, $security)',
    '  Assert-Own (Get-Item -LiteralPath $folder -Force)',
    '  Get-ChildItem -LiteralPath $folder -Force | ForEach-Object { Assert-Own $_ }',
    '}',
  ].join('\n')
  return {
    kind: 'run',
    command: [
      ...([powershell, '-NoProfile', '-NonInteractive', '-ExecutionPolicy', 'Bypass'] as const),
      ...['-EncodedCommand', Buffer.from(script, 'utf16le').toString('base64')],
    ],
    refusal: `The folders of the service could not be made safe: ${folders.join(', ')}. Remove the one that another user made, and install the service again.`,
  }
}

/** A text in PowerShell, in which nothing is replaced. */
function quoted(text: string): string {
  return `'${text.replaceAll(/['\u2018\u2019\u201a\u201b]/g, '$&$&')}'`
}
