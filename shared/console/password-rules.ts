import { z } from 'zod'

/** Rules for the password of an account, shared by the console and the controller. */
export type PasswordProblem = 'short' | 'long' | 'name' | 'common'

/** Minimum and maximum length of a password, in characters. */
export const passwordLength = { least: 10, most: 200 } as const

/** Schema of an entered password. `passwordProblem` also checks a new password against the name. */
export const typedPassword = z
  .string()
  .min(1)
  .max(passwordLength.most * 2)

/** The most common passwords of sufficient length (public lists of leaked passwords), and the product's own name. */
const common: ReadonlySet<string> = new Set([
  ...['1234567890', '12345678910', '0123456789', '0987654321', '9876543210', '1234567891', '123456789a', '1q2w3e4r5t'],
  ...['1qaz2wsx3edc', 'qwertyuiop', 'qwerty12345', 'qwerty123456', 'qwertyuiop123', 'asdfghjkl123', 'zxcvbnm123'],
  ...['password12', 'password123', 'password1234', 'password12345', 'passw0rd123', 'p@ssword123', 'p@ssw0rd123'],
  ...['iloveyou123', 'letmein123', 'welcome123', 'welcome1234', 'changeme123', 'administrator', 'admin12345'],
  ...['admin123456', 'administrator1', 'superadmin', 'roomdesk123', 'roomdeskadmin', 'sunshine123', 'football123'],
  ...['princess123', 'monkey12345', 'abcdefghij', 'abcd123456', 'a123456789', 'aa123456789', 'woaini1314520'],
  ...['woaini123456', 'qq123456789', 'zxcvbnm123456', 'asdf123456', '147258369a', '1472583690', '5201314520'],
])

/**
 * Returns the reason why `password` is rejected; undefined: it is accepted. No character classes are required: length
 * is decisive (NIST SP 800-63B, section 3.1.1.2).
 */
export function passwordProblem(password: string, name: string): PasswordProblem | undefined {
  const plain = password.normalize('NFKC')
  const letters = Array.from(plain)
  if (letters.length < passwordLength.least) return 'short'
  if (letters.length > passwordLength.most) return 'long'
  const folded = plain.toLowerCase()
  const owner = name.normalize('NFKC').toLowerCase()
  if (folded === owner || folded === Array.from(owner).reverse().join('')) return 'name'
  return new Set(letters).size < 3 || common.has(folded) ? 'common' : undefined
}
