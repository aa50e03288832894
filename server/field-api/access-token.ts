import { getAccessToken } from '../../shared/field-operations.ts'
import { digestText, hmacKey } from '../access/digest.ts'
import { type AnyOperation, implement } from '../http/operation.ts'
import { type AuthenticateServices, signIn } from '../media-api/authenticate.ts'

/**
 * `GET /avd/api/admin/getAccessToken` (contract, section 5): a key pair in a URL for a token. The secret is only ever made into the digest that its owner would have sent, and judged as that
 * one is.
 */
export function accessTokenOperation(services: AuthenticateServices): AnyOperation {
  const { digests, settings } = services
  return implement(getAccessToken, ({ accessKey, secretKey }, { client }) => {
    const forms = settings().access.digest_forms
    const [form = 'sha1-hex'] = forms
    const digest = digestText(form, hmacKey(secretKey), accessKey)
    return signIn(
      services,
      client,
      () => digests.check(accessKey, digest, forms),
      ({ random, key }, found) => ({
        data: { accessToken: digestText(found.form, found.key, `${random}:${key}`) },
      }),
    )
  })
}
