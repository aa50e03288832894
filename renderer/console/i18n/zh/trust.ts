import type { trust as english } from '../en/trust.ts'
import type { Texts } from '../text.ts'

export const trust: Texts<typeof english> = {
  title: '在您的设备上信任此站点',
  purpose: '之后浏览器不再警告，并允许在房间中使用摄像头和麦克风。',
  none: '此站点没有证书，使用明文 HTTP。管理员可在“设置 › 网络”中启用证书。',
  get: '获取证书',
  download: '下载 roomdesk.crt',
  compare: '请与管理员在“设置 › 网络”中看到的指纹核对，最好在另一台设备上查看。',
  names: {
    windows: 'Windows',
    macos: 'macOS',
    ios: 'iPhone 和 iPad',
    android: 'Android',
    firefox: 'Firefox（任意系统）',
  },
  steps: {
    windows:
      '打开 roomdesk.crt › 安装证书 › 当前用户 › 将所有的证书都放入下列存储 › 受信任的根证书颁发机构。然后重启浏览器。',
    macos: '打开 roomdesk.crt，钥匙串访问会将其加入登录钥匙串。双击该证书 › 信任 › 使用此证书时：始终信任。',
    ios: '在 Safari 中打开此页面并下载证书。设置 › 已下载描述文件 › 安装。然后在 设置 › 通用 › 关于本机 › 证书信任设置 中启用。',
    android: '设置 › 安全 › 加密与凭据 › 安装证书 › CA 证书 › 选择 roomdesk.crt。',
    firefox:
      '设置 › 隐私与安全 › 证书 › 查看证书 › 证书颁发机构 › 导入：选择 roomdesk.crt，勾选“信任由此证书颁发机构来标识网站”。',
  },
  fingerprint: '要信任的颁发机构（SHA-256）',
  link: '在设备上信任…',
  back: '返回控制台',
}
