import { readFile } from 'node:fs/promises'
import { errorCode } from '../../../shared/error-code.ts'
import { DatabaseError } from './database-error.ts'

/** Whether an address contains a password. */
export function holdsPassword(address: string): boolean {
  return /^[^/]*\/\/[^/@]*:[^@]+@/.test(address) || /[?&]password=/.test(address)
}

/**
 * Returns an address with the password from a file (its first line).
 * @throws DatabaseError when the file cannot be read or is empty, or when the address has a password or no user
 */
export async function withPasswordOf(file: string, address: string): Promise<string> {
  if (holdsPassword(address))
    throw new DatabaseError(
      'The address of the database holds a password, and --store-password-file names one: leave one out.',
    )
  const user = /^([^/]*\/\/[^/@:]+):?@/.exec(address)
  if (user === null)
    throw new DatabaseError('The address of the database names no user, whose password --store-password-file holds.')
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new DatabaseError(`${file}, which --store-password-file names, cannot be read (${errorCode(error)}).`)
  })
  const password = text.split(/\r?\n/)[0] ?? ''
  if (password === '') throw new DatabaseError(`${file}, which --store-password-file names, is empty.`)
  return address.replace(user[0], () => `${user[1]}:${encodeURIComponent(password)}@`)
}
